import type { Mapping } from '@svc/jsonl-v23/mapping';
import type { DatasetDraft } from '@svc/store';
import type { SkippedRows } from '@svc/tabular/internal';

/** The rows that a draft has left out; null where the mapping does not skip rows. */
export function skippedRows(
  mapping: Mapping,
  { failures }: Pick<DatasetDraft, 'failures'>,
): SkippedRows | null {
  return mapping.invalidRows === 'skip' ? { count: failures.total, rows: failures.first } : null;
}
