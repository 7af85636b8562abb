import type { JsonlError } from '@svc/jsonl-v23';
import { getMember, isJsonObject, type JsonObject } from '@svc/jsonl-v23/json';
import type { MappableFeature } from '@svc/jsonl-v23/mapping';

/** Rows that a mapping skips because they do not become items. */
export interface SkippedRows {
  readonly count: number;
  /** The first 100. */
  readonly rows: readonly JsonlError[];
}

/** The rows from which the items of a dataset were made. */
export interface RowFacts {
  /** The columns. */
  readonly features: readonly MappableFeature[];
  /** As it was sent; null for items. */
  readonly mapping: JsonObject | null;
  /** Null where the mapping does not skip rows. */
  readonly skipped: SkippedRows | null;
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
