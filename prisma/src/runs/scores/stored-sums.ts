import type { PairSums } from '@svc/evaluation';
import type pg from 'pg';
import { Parameters } from '../../database/page.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { LARGE_JOINS, queryOf } from '../../postgres/read-query.ts';
import { countPairs, PAIR_BY, type PairBy, type Pairing, pairSums } from './compare-sql.ts';
import { type ComparedBy, type ComparisonState, pairingOf, stateOf } from './comparison-state.ts';
import { checkCount } from './summarize-run.ts';

/** Means of a number of the pairs for which both runs know it; null without one. */
export interface ComparedMeans {
  readonly mean: number | null;
  readonly other_mean: number | null;
  /** Other minus this. */
  readonly mean_difference: number | null;
}

/** What is stored of a comparison. */
export type StoredSums = PairSums & {
  /** Why no items pair; null if some do. */
  readonly reason: string | null;
  /** Pairs with an output that differs. */
  readonly changedOutputs: number;
  /** For one result. */
  readonly latencyMs: ComparedMeans;
  readonly inputTokens: ComparedMeans;
  readonly outputTokens: ComparedMeans;
  readonly bySection: readonly (PairSums & { readonly section: string })[];
  readonly cost: ComparedMeans;
  readonly improvements: number;
  readonly regressions: number;
};

/** What a comparison is stored by: names have no blanks. */
export const keyOf = ({
  pairBy,
  scorer,
  metric = 'mean',
}: Pick<ComparedBy, 'scorer' | 'metric'> & { readonly pairBy: PairBy }): string =>
  [pairBy, ...(scorer === undefined ? [] : [scorer]), ...(metric === 'mean' ? [] : ['', metric])].join(' ');

/** Compares once for each state of the two runs, and stores what it finds. */
export async function storedSums(
  pool: pg.Pool,
  id: string,
  otherId: string,
  request: ComparedBy & { readonly pairBy: PairBy },
): Promise<{ readonly sums: StoredSums; readonly state: ComparisonState }> {
  const { pairBy } = request;
  const key = keyOf(request);
  const before = await stateOf(pool, id, otherId, request);
  const known = await readSums(pool, id, otherId, key, before);
  if (known !== undefined) return { sums: known, state: before };
  return await inTransaction(
    pool,
    async (client) => {
      // Locks the comparison: a second request waits for what the first one stores.
      await client.query(
        `INSERT INTO run_comparisons (run_id, other_run_id, pair_by, comparison_of, summary) VALUES ($1, $2, $3, '', '')
         ON CONFLICT (run_id, other_run_id, pair_by) DO UPDATE SET run_id = excluded.run_id`,
        [id, otherId, key],
      );
      const state = await stateOf(client, id, otherId, request);
      const found = await readSums(client, id, otherId, key, state);
      if (found !== undefined) return { sums: found, state };
      await client.query(
        'DELETE FROM run_differences WHERE run_id = $1 AND other_run_id = $2 AND pair_by = $3',
        [id, otherId, key],
      );
      for (const one of state.runs) checkCount(await countResults(client, one.id), one.counted);
      const parameters = new Parameters([id, otherId, key]);
      const pairing = await pairingOf(queryOf(client), state, pairBy, parameters.add);
      const sql = pairSums(pairing, parameters.add);
      const { rows } = await client.query<Omit<StoredSums, 'reason'>>(sql, parameters.values);
      const paired = rows[0] as Omit<StoredSums, 'reason'>;
      const reason = paired.paired > 0 ? null : await reasonOf(client, state, pairing);
      const sums = { ...paired, reason };
      await client.query(
        `UPDATE run_comparisons SET comparison_of = $4, summary = $5
         WHERE run_id = $1 AND other_run_id = $2 AND pair_by = $3`,
        [id, otherId, key, state.comparisonOf, JSON.stringify(sums)],
      );
      return { sums, state };
    },
    `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = '10min'; ${LARGE_JOINS}`,
  );
}

async function countResults(client: pg.ClientBase, runId: string): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM run_results WHERE run_id = $1',
    [runId],
  );
  return rows[0]?.count ?? 0;
}

/** Why no items of two runs pair, and what would pair them. */
async function reasonOf(
  client: pg.ClientBase,
  { runs: [run, other] }: ComparisonState,
  { pairBy, versions }: Pick<Pairing, 'pairBy' | 'versions'>,
): Promise<string> {
  if (run.scored === 0) return 'This run has no scored results.';
  if (other.scored === 0) return 'The other run has no scored results.';
  const ways: string[] = [];
  for (const way of PAIR_BY) {
    if (way === pairBy) continue;
    const parameters = new Parameters([run.id, other.id]);
    const sql = countPairs(way, versions, parameters.add);
    const { rows } = await client.query<{ count: number }>(sql, parameters.values);
    const count = rows[0]?.count ?? 0;
    if (count > 0) ways.push(`pair_by=${way} pairs ${count} items`);
  }
  const advice = ways.length === 0 ? 'No other way pairs them either' : ways.join(', ');
  return `No scored items of the two runs have the same ${pairBy}. ${advice}.`;
}

/** What is stored of these results. */
async function readSums(
  client: pg.Pool | pg.ClientBase,
  id: string,
  otherId: string,
  key: string,
  { comparisonOf }: ComparisonState,
): Promise<StoredSums | undefined> {
  const { rows } = await client.query<{ summary: string }>(
    `SELECT summary FROM run_comparisons
     WHERE run_id = $1 AND other_run_id = $2 AND pair_by = $3 AND comparison_of = $4`,
    [id, otherId, key, comparisonOf],
  );
  return rows[0] === undefined ? undefined : JSON.parse(rows[0].summary);
}
