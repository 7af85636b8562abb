import type { DatasetDraft } from '@svc/store';
import type { SkippedRows } from '@svc/tabular/internal';

/** The rows that a draft has left out; null where the mapping does not skip rows. */
export function skippedRows({ skipped }: Pick<DatasetDraft, 'skipped'>): SkippedRows | null {
  return skipped === null ? null : { count: skipped.total, rows: skipped.first };
}
