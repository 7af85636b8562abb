import type pg from 'pg';
import { compareScores, configDifferences, type PairSums, readPrices } from '../../../evaluation/index.ts';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { cursorAfter, decodeCursor, Parameters, type PlacedPageRequest } from '../../database/page.ts';
import { readStoredJson } from '../../database/read-stored-json.ts';
import { boundedText, readableJson, runNotFound } from '../../database/values.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import { positionColumns } from '../../items/item-ranges.ts';
import { inTransaction } from '../../postgres/pool.ts';
import {
  createReadQuery,
  LARGE_JOINS,
  queryOf,
  type ReadQuery,
  readFrom,
  SNAPSHOT,
} from '../../postgres/read-query.ts';
import { readItemHashes, readJoinedVersion, readSectionNames } from '../read-items-at.ts';
import { JUDGE_PRICE, type VersionOfRun, versionOf } from '../run-row.ts';
import { scorerNumber } from '../write/insert-results.ts';
import {
  countPairs,
  type DifferenceKind,
  differencesOf,
  ITEM_IDS,
  PAIR_BY,
  type PairBy,
  type Pairing,
  type PairMetric,
  pairSlices,
  pairSums,
} from './compare-sql.ts';
import { checkCount, MAX_VALUES, notSliceable, SUMMED_RUN, type SummedRun } from './summarize-run.ts';
import { LONG_VALUE } from './summary-sql.ts';

export interface CompareRequest extends PlacedPageRequest, ComparedBy {
  /** Items in which the other run is worse, or better, or has another output; else those with another score. */
  readonly only?: Exclude<DifferenceKind, 'all'> | undefined;
  /** Default: `hash`. */
  readonly pairBy?: PairBy | undefined;
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
  /** Whether more than half of the item's results that have passed or failed passed; null without one. */
  readonly passed: boolean | null;
  readonly otherPassed: boolean | null;
  /** Whether any output differs. */
  readonly outputChanged: boolean;
}

/** How two runs compare, with a page of the items in which they differ. */
export type RunComparison = Awaited<ReturnType<typeof compareRuns>>;

/**
 * Compares two runs by the items that have a score in both, and lists those in which they differ, in item order.
 *
 * @throws StoreError `run_not_found`, `invalid_cursor`; `invalid_request` if the runs are clustered by different values
 *   and the request names none
 */
export async function compareRuns(
  { pool, searches }: StoreContext,
  id: string,
  otherId: string,
  request: CompareRequest,
) {
  const { limit, cursor, offset = 0, only, pairBy = 'hash', scorer = '', signal } = request;
  const list = `compare ${id} ${otherId} ${pairBy} ${only ?? 'all'} ${scorer}`.trimEnd();
  const after = cursor === undefined ? [-1, -1] : decodeCursor(list, ['index', 'index'], cursor);
  using _permit = await searches.acquire(signal);
  const { sums, state } = await storedSums(pool, id, otherId, { ...request, pairBy });
  const query = createReadQuery(pool, signal);
  const rows = await query<StoredDifference>(differencesOf(only ?? 'all'), [
    ...[id, otherId, ...after, limit + 1],
    ...[keyOf({ pairBy, scorer: request.scorer }), cursor === undefined ? offset : 0],
  ]);
  const shown = rows.slice(0, limit);
  const { latencyMs, inputTokens, outputTokens, changedOutputs, improvements, regressions } = sums;
  const totals = { improvements, regressions, changed_output: changedOutputs };
  const [currency, otherCurrency] = state.runs.map(currencyOf);
  return {
    /** By the name of this run's section, in their order: at most the 1,000 with most pairs. */
    bySection: Object.fromEntries(
      sums.bySection.map(({ section, ...ofSection }) => [section, compareScores(ofSection)]),
    ),
    ...{ scores: compareScores(sums), pairBy, clusterBy: state.clusterBy, reason: sums.reason },
    ...{ changedOutputs, latencyMs, inputTokens, outputTokens },
    /** Null unless both runs have prices in one currency. */
    cost: currency !== undefined && currency === otherCurrency ? { ...sums.cost, currency } : null,
    /** Null for configurations that are too large. */
    configDifferences: configDifferencesOf(state.runs),
    data: await withNames(query, id, state, shown),
    nextCursor: cursorAfter(list, shown, rows.length > limit, (last) => [
      ...[last.sectionOrderIndex, last.orderIndex],
    ]),
    totalItems: only === undefined ? improvements + regressions : totals[only],
  };
}

const currencyOf = ({ price, judgePrice }: ComparedRun): string | undefined => {
  const { model, judge } = readPrices(price, judgePrice);
  return model?.currency ?? judge?.currency;
};

function configDifferencesOf([run, other]: ComparisonState['runs']) {
  if (run.config === null || other.config === null) return null;
  return configDifferences(readStoredJson(run.config), readStoredJson(other.config));
}

type StoredDifference = Omit<RunDifference, 'section' | 'otherSection' | 'itemId' | 'itemHash'> & {
  readonly sectionOrderIndex: number;
  readonly otherSectionOrderIndex: number;
};

async function withNames(
  query: ReadQuery,
  id: string,
  { runs }: ComparisonState,
  differences: readonly StoredDifference[],
): Promise<readonly RunDifference[]> {
  const [run, other] = runs.map(versionOf) as [VersionOfRun, VersionOfRun];
  if (differences.length === 0) return [];
  const sections = differences.map(({ sectionOrderIndex }) => sectionOrderIndex);
  const otherSections = differences.map(({ otherSectionOrderIndex }) => otherSectionOrderIndex);
  const names = await readSectionNames(query, run, sections);
  const otherNames = await readSectionNames(query, other, otherSections);
  const rows = await query<{ readonly n: number; readonly itemId: string | null }>(ITEM_IDS, [
    id,
    ...positionColumns(differences),
  ]);
  const ids = new Map(rows.map(({ n, itemId }) => [n - 1, itemId]));
  const hashes = await readItemHashes(query, run, differences);
  return differences.flatMap(({ sectionOrderIndex, otherSectionOrderIndex, ...difference }, index) => {
    const itemHash = hashes.get(index);
    if (itemHash === undefined) return [];
    const section = names.get(sectionOrderIndex) ?? '';
    const otherSection = otherNames.get(otherSectionOrderIndex) ?? '';
    return [{ ...difference, section, otherSection, itemId: ids.get(index) ?? null, itemHash }];
  });
}

export interface CompareSlicesRequest
  extends Pick<CompareRequest, 'pairBy' | 'clusterBy' | 'scorer' | 'signal'> {
  /** `tag`, or a JSON Pointer into the items of the first run. */
  readonly by: string;
}

/**
 * How two runs differ in the slices of their pairs, those with most pairs first: of tags the first 50. A `value` is JSON text;
 * `null` for items without it.
 *
 * @throws StoreError `run_not_found`; `invalid_request` for more than 50 values of a pointer, or if the runs are clustered
 *   by different values and the request names none
 */
export async function compareSlices(
  { pool, searches }: StoreContext,
  id: string,
  otherId: string,
  { by, pairBy = 'hash', signal, ...request }: CompareSlicesRequest,
) {
  using _permit = await searches.acquire(signal);
  const state = await stateOf(pool, id, otherId, request);
  const parameters = new Parameters([id, otherId]);
  const { add } = parameters;
  const pairing = await pairingOf(createReadQuery(pool, signal), state, pairBy, add);
  const value = by === 'tag' ? null : itemValue(by, add);
  const sql = pairSlices(pairing, value, MAX_VALUES, add);
  const rows = await readFrom(
    pool,
    (query) => query<PairSums & { readonly value: string }>(sql, parameters.values),
    signal,
    `${SNAPSHOT}; ${LARGE_JOINS}`,
  );
  if (value !== null) {
    if (rows.some((row) => row.value === LONG_VALUE))
      throw notSliceable(by, 'values of more than 1,000 bytes');
    if (rows.length > MAX_VALUES) throw notSliceable(by, `more than ${MAX_VALUES} values`);
  }
  return rows.slice(0, MAX_VALUES).map((row) => ({ value: row.value, scores: compareScores(row) }));
}

/** Means of a number of the pairs for which both runs know it; null without one. */
export interface ComparedMeans {
  readonly mean: number | null;
  readonly other_mean: number | null;
  /** Other minus this. */
  readonly mean_difference: number | null;
}

/** What is stored of a comparison. */
type StoredSums = PairSums & {
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
const keyOf = ({
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

interface ComparedRun extends SummedRun {
  readonly datasetHash: string;
  readonly scored: number;
  readonly config: string | null;
  readonly price: string | null;
  readonly judgePrice: string | null;
}

/** Which results a comparison is of, and how items pair. */
interface ComparisonState {
  readonly runs: readonly [ComparedRun, ComparedRun];
  readonly comparisonOf: string;
  readonly clusterBy: string | null;
  readonly scorers: readonly [number | null, number | null];
  readonly metric: PairMetric;
}

interface ComparedBy {
  /** JSON Pointer of the value that clusters items, or `none`; by default the pointer of both runs. */
  readonly clusterBy?: string | undefined;
  /** Name of the scorer of both runs; the main ones without it. */
  readonly scorer?: string | undefined;
  /** Default: `mean`. */
  readonly metric?: PairMetric | undefined;
}

/** How the items of both runs pair. @param add adds a value to the statement and gives its placeholder */
async function pairingOf(
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
async function stateOf(
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
