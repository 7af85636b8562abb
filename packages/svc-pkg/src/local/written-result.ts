import { jsonText } from '@svc/jsonl-v23/internal';
import type { WrittenPackage } from '@svc/pkg-format/node';
import { type SkippedFiles, skippedFilesJson } from '@svc/tabular/internal';
import type { Result } from '../output/print-result.ts';
import { countOf, formatFacts } from '../text/format-facts.ts';
import { noteFacts } from '../text/note-facts.ts';
import { printableValue } from '../text/printable-text.ts';

/** A package that was made of rows. */
export interface PackedRows extends WrittenPackage {
  readonly input: readonly string[];
  readonly output: string;
  readonly name: string;
  /** Rows that did not become items. */
  readonly skipped: number;
  /** Files that are no tables. */
  readonly skippedFiles?: SkippedFiles;
}

/** The report on a package that was made of rows. */
export function writtenResult({
  input,
  output,
  name,
  versionHash,
  itemCount,
  sections,
  skipped,
  skippedFiles = { first: [], total: 0 },
}: PackedRows): Result {
  return {
    text: () =>
      formatFacts([
        ['output', output],
        ['name', printableValue(name)],
        ['version hash', versionHash],
        ['items', `${itemCount} in ${countOf(sections.length, 'section')}`],
        ['skipped', skipped === 0 ? null : countOf(skipped, 'row')],
        ...noteFacts({ skipped_files: skippedFiles.first, skipped_files_total: skippedFiles.total }),
      ]),
    json: () =>
      jsonText({
        input,
        output,
        name,
        version_hash: versionHash,
        item_count: itemCount,
        sections: sections.map((section) => ({ name: section.name, item_count: section.itemCount })),
        skipped_count: skipped,
        ...skippedFilesJson(skippedFiles),
      }),
  };
}

/** Characters that some file system refuses. */
const UNSAFE = /[\p{Cc}\p{Cs}<>:"/\\|?*]+/gu;
const MAX_LENGTH = 120;

/** The name of a dataset as a file name without extension. */
export function fileNameOf(name: string): string {
  const safe = name
    .normalize('NFC')
    .replace(UNSAFE, '_')
    .trim()
    .replace(/^[-.\s]+/, '');
  return [...safe].slice(0, MAX_LENGTH).join('') || 'dataset';
}
