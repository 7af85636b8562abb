import { hasPrompt } from '@svc/jsonl-v23/internal';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { MappableFeature, Mapping } from '@svc/jsonl-v23/mapping';
import type { FileOptions } from '../files/file-format.ts';
import { openFileTable } from '../files/open-file-table.ts';
import { toMappable } from '../schema/features.ts';
import { planMapping, typedColumns, withTypes } from '../sections/plan-mapping.ts';
import type { SkippedFiles } from '../sections/skipped-files.ts';
import { type InputFile, labelOf, locateError, sourceOf, type TableFile } from '../sections/table-file.ts';
import type { ChosenFiles } from '../sections/unpack-files.ts';
import { type PreviewRows, RowsCollector } from './collect-rows.ts';
import { mappingWarnings, promptWarnings, withWarnings } from './mapping-warnings.ts';
import { shownColumns } from './shown-columns.ts';

/** What a person sees of files before a dataset is made of them. */
export interface FilesPreview extends PreviewRows {
  readonly kind: 'items' | 'table';
  /** As detected. */
  readonly format: string;
  readonly options: FileOptions;
  readonly features: readonly MappableFeature[];
  /** Rows of all files; null where only reading the data tells. */
  readonly numRows: number | null;
  readonly info: JsonObject;
  readonly skipped: SkippedFiles;
}

export interface PreviewOptions {
  /** Rows that are shown, 1 to 100. */
  readonly limit: number;
  /** That samples, items and the suggestion may take as JSON text. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** What files become: items where each has items in its first lines, and no mapping makes items of their rows. */
export function kindOf(files: readonly TableFile[], mapping: Mapping | null): 'items' | 'table' {
  return mapping === null && files.every(({ detected }) => detected.areItems === true) ? 'items' : 'table';
}

/**
 * Previews files with tables or items: the columns and the first rows of the first file, and with a mapping the items that
 * an import would store. Of a large file only the first rows are read.
 *
 * @throws TableError; JsonlError, ImportErrors for the mapping; errors of the sources
 */
export async function previewFiles(
  { files, skipped }: ChosenFiles<InputFile>,
  mapping: Mapping | null,
  { limit, maxBytes, signal }: PreviewOptions,
): Promise<FilesPreview> {
  const [first] = files;
  if (first === undefined) throw new RangeError('A preview needs a file.');
  const { detected, section } = first;
  const file = labelOf(first);
  try {
    const options = { textColumns: typedColumns(mapping), wholeFile: false, signal };
    const table = await openFileTable(sourceOf(first), detected, options);
    const allColumns = table.features.map(toMappable);
    if (mapping !== null) {
      planMapping(mapping, allColumns, { unreadRow: table.unreadRow, file, hint: detected.warnings?.[0] });
    }
    const { columns, warnings } = shownColumns(allColumns, mapping);
    const collector = new RowsCollector(columns, mapping, maxBytes);
    const names = columns.map(({ name }) => name);
    const kind = kindOf(files, mapping);
    let index = 0;
    let unasked = 0;
    for await (const { rows } of table.read({ to: limit, columns: names, signal })) {
      for (const row of rows) {
        await collector.add(row, index, section);
        if (kind === 'items' && !hasPrompt(row)) unasked += 1;
        index += 1;
      }
      if (collector.isFull) break;
    }
    const sections = files.map((each) => {
      return { file: each.name, section: each.section, format: each.detected.format };
    });
    const shown = collector.end();
    return {
      kind,
      format: detected.format,
      options: detected.options,
      features: withTypes(columns, mapping),
      numRows: files.length === 1 ? (table.rowCount ?? null) : null,
      info: withWarnings({ sections }, [
        ...warnings,
        ...(table.warnings ?? []),
        ...(mapping === null ? (shown.suggestion?.warnings ?? []) : mappingWarnings(mapping)),
        ...promptWarnings(unasked, 'the first rows'),
      ]),
      skipped,
      ...shown,
    };
  } catch (error) {
    throw locateError(error, file);
  }
}
