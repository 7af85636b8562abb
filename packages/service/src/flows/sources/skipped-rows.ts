import type { ImportReport } from '@svc/store';
import type { SkippedRows } from '@svc/tabular/internal';

/** The rows that an import has left out; null if the mapping does not skip rows. */
export function skippedRows({ skipped }: ImportReport): SkippedRows | null {
  return skipped === null ? null : { count: skipped.total, rows: skipped.first };
}
