import { type ComparedScores, compareScores, type PairSums } from '@svc/evaluation';
import { createReadQuery, inTransaction } from '@svc/postgres';
import type pg from 'pg';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../../database/page.ts';
import { isUuid } from '../../database/values.ts';
import { runNotFound } from '../run-row.ts';
import { DIFFERENCES, pairSums } from './compare-sql.ts';

export interface CompareRequest extends PageRequest {
  /** Items in which the other run is worse, or better. */
  readonly only?: 'regressions' | 'improvements' | undefined;
}

/** An item in which two runs differ. */
export interface RunDifference {
  readonly section: string;
  readonly orderIndex: number;
  readonly otherSection: string;
  readonly otherOrderIndex: number;
  /** JSON text; null without an id. */
  readonly itemId: string | null;
  readonly itemHash: Uint8Array;
  /** Mean of the item's scores, in each run. */
  readonly score: number;
  readonly otherScore: number;
  /** Whether more than half of the item's scored results passed. */
  readonly passed: boolean;
  readonly otherPassed: boolean;
}

/** How two runs compare, with a page of the items in which they differ. */
export interface RunComparison extends Page<RunDifference> {
  readonly scores: ComparedScores;
}

/** See `RunStore.compare`. */
export async function compareRuns(
  { pool, searches }: Pick<StoreContext, 'pool' | 'searches'>,
  id: string,
  otherId: string,
  { limit, cursor, only, signal }: CompareRequest,
): Promise<RunComparison> {
  const after = cursor === undefined ? [-1, -1] : decodeCursor('compare', ['index', 'index'], cursor);
  for (const wanted of [id, otherId]) if (!isUuid(wanted)) throw runNotFound(wanted);
  using _permit = await searches.acquire(signal);
  const sums = await storedSums(pool, id, otherId);
  if (sums.paired === 0) {
    throw new StoreError('nothing_to_compare', 'The runs have no scored items in common.');
  }
  const query = createReadQuery(pool, signal);
  const which = only === undefined ? 0 : only === 'improvements' ? 1 : -1;
  const rows = await query<DifferenceRow>(DIFFERENCES, [id, otherId, which, ...after, limit + 1]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    scores: compareScores(sums),
    data: shown.map(({ sectionOrderIndex: _, ...row }) => row),
    nextCursor:
      rows.length > limit && last !== undefined
        ? encodeCursor('compare', [last.sectionOrderIndex, last.orderIndex])
        : null,
    totalItems: only === undefined ? sums.improvements + sums.regressions : sums[only],
  };
}

type DifferenceRow = RunDifference & { readonly sectionOrderIndex: number };

/** With the numbers of stored differences. */
type StoredSums = PairSums & { readonly improvements: number; readonly regressions: number };

interface ComparedRun {
  readonly id: string;
  readonly version: string;
  readonly datasetHash: string;
}

/** Compares once for each state of the two runs, and stores what it finds. */
async function storedSums(pool: pg.Pool, id: string, otherId: string): Promise<StoredSums> {
  const known = await readSums(pool, id, otherId, await stateOf(pool, id, otherId));
  if (known !== undefined) return known;
  return await inTransaction(
    pool,
    async (client) => {
      // Locks the comparison: a second request waits for what the first one stores.
      await client.query(
        `INSERT INTO run_comparisons (run_id, other_run_id, comparison_of, summary) VALUES ($1, $2, '', '')
         ON CONFLICT (run_id, other_run_id) DO UPDATE SET run_id = excluded.run_id`,
        [id, otherId],
      );
      const state = await stateOf(client, id, otherId);
      const found = await readSums(client, id, otherId, state);
      if (found !== undefined) return found;
      await client.query('DELETE FROM run_differences WHERE run_id = $1 AND other_run_id = $2', [
        id,
        otherId,
      ]);
      const { rows } = await client.query<StoredSums>(pairSums(state.haveEqualItems), [id, otherId]);
      const sums = rows[0] as StoredSums;
      await client.query(
        'UPDATE run_comparisons SET comparison_of = $3, summary = $4 WHERE run_id = $1 AND other_run_id = $2',
        [id, otherId, state.comparisonOf, JSON.stringify(sums)],
      );
      return sums;
    },
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off",
  );
}

/** Of which results a comparison is, and how items pair. @throws StoreError `run_not_found` */
async function stateOf(
  client: pg.Pool | pg.ClientBase,
  id: string,
  otherId: string,
): Promise<{ readonly comparisonOf: string; readonly haveEqualItems: boolean }> {
  const { rows } = await client.query<ComparedRun>(
    `SELECT runs.id, results_version || ':' || ok + failed + unscored AS version, version_hash AS "datasetHash"
     FROM runs JOIN versions v ON v.dataset_id = runs.dataset_id AND v.version = runs.dataset_version
     WHERE runs.id IN ($1, $2)`,
    [id, otherId],
  );
  const [run, other] = [id, otherId].map((wanted) => {
    const found = rows.find((row) => row.id === wanted.toLowerCase());
    if (found === undefined) throw runNotFound(wanted);
    return found;
  }) as [ComparedRun, ComparedRun];
  return {
    comparisonOf: `${run.version} ${other.version}`,
    haveEqualItems: run.datasetHash === other.datasetHash,
  };
}

/** What is stored of these results. */
async function readSums(
  client: pg.Pool | pg.ClientBase,
  id: string,
  otherId: string,
  { comparisonOf }: { readonly comparisonOf: string },
): Promise<StoredSums | undefined> {
  const { rows } = await client.query<{ summary: string }>(
    'SELECT summary FROM run_comparisons WHERE run_id = $1 AND other_run_id = $2 AND comparison_of = $3',
    [id, otherId, comparisonOf],
  );
  return rows[0] === undefined ? undefined : JSON.parse(rows[0].summary);
}
