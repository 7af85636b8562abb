import type { JsonlError } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { MappableFeature } from '@svc/jsonl-v23/mapping';
import type { DetectedFile } from '../files/file-format.ts';
import { type SkippedFiles, skippedFilesJson } from '../sections/skipped-files.ts';

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

/** The rows from which the items of a dataset were made. */
export interface RowFacts {
  /** The columns. */
  readonly features: readonly MappableFeature[];
  /** The mapping as it was sent; null for items. */
  readonly mapping: JsonObject | null;
  /** Rows that become no items, the first 100 of them with the reason; null if the mapping does not skip rows. */
  readonly skipped: { readonly count: number; readonly rows: readonly JsonlError[] } | null;
}

/** What the `schema` of a dataset says about rows: `features` (column → dtype), `mapping`, and `skipped`. */
export function rowsSchema({ features, mapping, skipped }: RowFacts): JsonObject {
  const types = mapping === null ? undefined : getMember(mapping, 'types');
  const given = new Map(isJsonObject(types) ? Object.entries(types) : []);
  return {
    // Own members, even for a column named `__proto__`.
    features: Object.fromEntries(features.map(({ name, dtype }) => [name, given.get(name) ?? dtype])),
    mapping,
    ...(skipped === null ? {} : { skipped: { count: skipped.count, rows: skipped.rows.map(skippedRow) } }),
  };
}

function skippedRow({ message, location: { row, file } }: JsonlError): JsonObject {
  return { row: row ?? null, message, ...(file === undefined ? {} : { file }) };
}
