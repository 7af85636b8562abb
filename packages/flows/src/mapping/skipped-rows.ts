import type { JsonlError, Mapping } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { DatasetDraft } from '@svc/store';

/** Rows that an import left out. */
export interface SkippedRows {
  readonly count: number;
  /** The first 100. */
  readonly rows: readonly JsonlError[];
}

/** The rows that a draft has left out; null where the mapping does not skip rows. */
export function skippedRows(
  mapping: Mapping,
  { failures }: Pick<DatasetDraft, 'failures'>,
): SkippedRows | null {
  return mapping.invalidRows === 'skip' ? { count: failures.total, rows: failures.first } : null;
}

/** The member `skipped` of a `schema`; none where the mapping does not skip rows. */
export function skippedMember(skipped: SkippedRows | null): JsonObject {
  if (skipped === null) return {};
  return { skipped: { count: skipped.count, rows: skipped.rows.map(toRow) } };
}

function toRow({ message, location: { row, file } }: JsonlError): JsonObject {
  return { row: row ?? null, message, ...(file === undefined ? {} : { file }) };
}
