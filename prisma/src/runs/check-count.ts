import { StoreError } from '../database/errors.ts';

/** Citus looks for transactions that a node has not ended once a minute. */
const RETRY_AFTER_MS = 10_000;

/**
 * Refuses to add up fewer results than their run counts. A node of a cluster that is lost between the two phases of a commit
 * shows what it holds only when Citus has recovered it, within a minute, and what is stored of sums would stay wrong.
 *
 * @throws StoreError `unavailable`
 */
export function checkCount(found: number, counted: number): void {
  if (found >= counted) return;
  throw new StoreError(
    'unavailable',
    `Cannot add up the results of the run: a node of the database shows ${found} of ${counted}.`,
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
