import type { JsonObject } from '@svc/jsonl-v23/json';
import type { DetectedFile } from '../files/file-format.ts';
import { type SkippedFiles, skippedFilesJson } from '../sections/skipped-files.ts';
import { type RowFacts, rowsSchema } from './rows-schema.ts';

/** A file from which the items of a dataset were made. */
export interface SourceFile {
  readonly name: string;
  readonly source: { readonly byteLength: number };
  /** Hex digits; null if unknown. */
  readonly sha256: string | null;
  readonly detected: DetectedFile;
}

/** The `schema` of a dataset that was made of files with tables or items; it names them. */
export function fileSchema(
  files: readonly SourceFile[],
  rows: RowFacts,
  skipped: SkippedFiles,
): JsonObject & { readonly files: JsonObject[] } {
  return {
    source: 'file',
    files: files.map(({ name, source, sha256, detected }) => ({
      name,
      format: detected.format,
      bytes: source.byteLength,
      sha256,
    })),
    options: { ...files[0]?.detected.options },
    ...rowsSchema(rows),
    ...skippedFilesJson(skipped),
  };
}
