import { ofRun } from '../items/item-ranges.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import type { ResultKey } from './run-results.ts';
import { isToReplace, type Run, readRetry } from './run-row.ts';

export interface PendingPosition extends ResultKey {
  /** Until when a client has claimed it; null if none has, or the claim has expired. */
  readonly claimedUntil: Date | null;
}

export interface RunSection {
  readonly name: string;
  readonly orderIndex: number;
  readonly itemCount: number;
}

export async function sectionsOf(query: ReadQuery, runId: string): Promise<readonly RunSection[]> {
  return await query<RunSection>(
    `SELECT s.name, s.order_index AS "orderIndex", s.item_count AS "itemCount"
     FROM runs run JOIN version_sections s ON ${ofRun('run')} WHERE run.id = $1 ORDER BY s.order_index`,
    [runId],
  );
}

/** Results of one query. */
export const MISSING_PER_QUERY = 5_000;

/**
 * SQL for the results that run `$1` lacks: of section `$2`, from item `$3` and its repetition `$7` up to, not including, item
 * `$4`, with `$5` repetitions, at most `$6`; `$8` and `$9` the retry. A query reads the results of so few positions that it
 * takes the same time wherever it is.
 */
const missing = (hasSelection: boolean, isUnclaimed: boolean): string => `
  WITH position AS MATERIALIZED (
    ${
      hasSelection
        ? `SELECT order_index AS item FROM run_items
      WHERE run_id = $1 AND section_order_index = $2::int AND order_index >= $3::int AND order_index < $4::int`
        : 'SELECT item FROM generate_series($3::int, $4::int - 1) AS position (item)'
    }
  ), done AS MATERIALIZED (
    SELECT order_index AS item, repetition AS n FROM run_results result
    WHERE run_id = $1 AND section_order_index = $2::int AND order_index >= $3::int AND order_index < $4::int
      AND NOT ($8::int > 0 AND ${isToReplace('result', { retries: '$8', only: '$9' })})
  )
  SELECT $2::int AS "sectionOrderIndex", position.item AS "orderIndex", wanted.n AS repetition,
    CASE WHEN batch.claimed_until >= clock_timestamp() THEN batch.claimed_until END AS "claimedUntil"
  FROM position CROSS JOIN generate_series(1, $5::int) AS wanted (n)
    LEFT JOIN done ON done.item = position.item AND done.n = wanted.n
    LEFT JOIN run_claims claim ON claim.run_id = $1 AND claim.section_order_index = $2::int
      AND claim.order_index = position.item AND claim.repetition = wanted.n
    LEFT JOIN run_claim_batches batch ON batch.run_id = $1 AND batch.id = claim.batch_id
  WHERE (position.item > $3::int OR wanted.n >= $7::int) AND done.item IS NULL
    ${isUnclaimed ? 'AND claim.batch_id IS NULL' : ''} ORDER BY position.item, wanted.n LIMIT $6`;

/**
 * Finds results that a run lacks, in order: a list of at most `limit` for each query, perhaps empty, and where the next one
 * begins. It goes on to the end of the run.
 *
 * @param isUnclaimed whether those with a claim are left out, expired ones too
 */
export async function* findMissing(
  query: ReadQuery,
  { id, hasSelection, repetitions }: Pick<Run, 'id' | 'hasSelection' | 'repetitions'>,
  options: { readonly limit: () => number; readonly isUnclaimed?: boolean; readonly start?: ResultKey },
): AsyncGenerator<{ readonly found: readonly PendingPosition[]; readonly next: ResultKey }> {
  const {
    limit,
    isUnclaimed = false,
    start = { sectionOrderIndex: 0, orderIndex: 0, repetition: 1 },
  } = options;
  const sql = missing(hasSelection, isUnclaimed);
  const retry = await readRetry(query, id);
  if (retry === null) return;
  const block = Math.max(1, Math.floor(MISSING_PER_QUERY / repetitions));
  for (const { orderIndex: section, itemCount } of await sectionsOf(query, id)) {
    if (section < start.sectionOrderIndex) continue;
    let [from, repetition] =
      section > start.sectionOrderIndex ? [0, 1] : [start.orderIndex, start.repetition];
    while (from < itemCount) {
      const most = limit();
      const to = Math.min(from + block, itemCount);
      const found = await query<PendingPosition>(sql, [
        ...[id, section, from, to, repetitions, most, repetition],
        ...[retry.retries, retry.only],
      ]);
      const last = found.at(-1);
      if (last === undefined || found.length < most) [from, repetition] = [to, 1];
      else [from, repetition] = [last.orderIndex, last.repetition + 1];
      yield { found, next: { sectionOrderIndex: section, orderIndex: from, repetition } };
    }
  }
}
