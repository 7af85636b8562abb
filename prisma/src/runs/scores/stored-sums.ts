import type { PairSums } from '@svc/evaluation';
import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { Parameters } from '../../database/page.ts';
import { boundedText, readableJson, runNotFound } from '../../database/values.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import { inTransaction } from '../../postgres/pool.ts';
import { LARGE_JOINS, queryOf, type ReadQuery } from '../../postgres/read-query.ts';
import { readJoinedVersion } from '../read-items-at.ts';
import { JUDGE_PRICE, versionOf } from '../run-row.ts';
import { scorerNumber } from '../write/result-counts.ts';
import { countPairs, PAIR_BY, type PairBy, type Pairing, type PairMetric, pairSums } from './compare-sql.ts';
import { checkCount, SUMMED_RUN, type SummedRun } from './summarize-run.ts';

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

/** Changes with the members of `StoredSums`, so that no others are read. */
const STORED_FORMAT = 4;

/** Larger configurations are not compared on the main thread. */
const MAX_CONFIG_BYTES = 262_144;

export interface ComparedRun extends SummedRun {
  readonly datasetHash: string;
  readonly scored: number;
  readonly config: string | null;
  readonly price: string | null;
  readonly judgePrice: string | null;
}

/** Which results a comparison is of, and how items pair. */
export interface ComparisonState {
  readonly runs: readonly [ComparedRun, ComparedRun];
  readonly comparisonOf: string;
  readonly clusterBy: string | null;
  readonly scorers: readonly [number | null, number | null];
  readonly metric: PairMetric;
}

export interface ComparedBy {
  /** JSON Pointer of the value that clusters items, or `none`; by default the pointer of both runs. */
  readonly clusterBy?: string | undefined;
  /** Name of the scorer of both runs; the main ones without it. */
  readonly scorer?: string | undefined;
  /** Default: `mean`. */
  readonly metric?: PairMetric | undefined;
}

/** How the items of both runs pair. @param add adds a value to the statement and gives its placeholder */
export async function pairingOf(
  query: ReadQuery,
  { runs: [run, other], clusterBy, scorers, metric }: ComparisonState,
  pairBy: PairBy,
  add: (value: unknown) => string,
): Promise<Pairing> {
  return {
    pairBy,
    metric,
    scorers,
    versions: [
      await readJoinedVersion(query, versionOf(run)),
      await readJoinedVersion(query, versionOf(other)),
    ],
    haveEqualItems: run.datasetHash === other.datasetHash,
    clusterValue: clusterBy === null ? null : itemValue(clusterBy, add),
  };
}

/** @throws StoreError `run_not_found`; `invalid_request` if the runs are clustered by different values */
export async function stateOf(
  client: pg.Pool | pg.ClientBase,
  id: string,
  otherId: string,
  { clusterBy: wanted, scorer, metric = 'mean' }: ComparedBy,
): Promise<ComparisonState> {
  const { rows } = await client.query<ComparedRun>(
    `SELECT ${SUMMED_RUN}, version_hash AS "datasetHash", scored, ${boundedText('config', MAX_CONFIG_BYTES)} AS config,
       (${readableJson('config::json')} -> 'price')::text AS price,
       ${JUDGE_PRICE} AS "judgePrice"
     FROM runs JOIN versions v ON v.dataset_id = runs.dataset_id AND v.version = runs.dataset_version
     WHERE runs.id IN ($1, $2)`,
    [id, otherId],
  );
  const [run, other] = [id, otherId].map((one) => {
    const found = rows.find((row) => row.id === one.toLowerCase());
    if (found === undefined) throw runNotFound(one);
    return found;
  }) as [ComparedRun, ComparedRun];
  if (wanted === undefined && run.clusterBy !== other.clusterBy) {
    const [one, two] = [run, other].map(({ clusterBy }) => clusterBy ?? 'none');
    const message = `cluster_by must be given, since the runs differ in it: ${one} and ${two}.`;
    throw new StoreError('invalid_request', message, { path: 'cluster_by' });
  }
  const clusterBy = wanted === undefined ? run.clusterBy : wanted === 'none' ? null : wanted;
  const comparisonOf = JSON.stringify([STORED_FORMAT, run.version, other.version, clusterBy]);
  const numberIn = ({ scorerNames }: ComparedRun): number | null =>
    scorer === undefined ? null : scorerNumber(scorerNames, scorer);
  const scorers = [numberIn(run), numberIn(other)] as const;
  return { runs: [run, other], comparisonOf, clusterBy, scorers, metric };
}
