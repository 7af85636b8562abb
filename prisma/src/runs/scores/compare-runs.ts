import {
  type ComparedScores,
  type ConfigDifference,
  compareScores,
  configDifferences,
  type PairSums,
  readPrices,
} from '@svc/evaluation';
import { createReadQuery, inTransaction, queryOf, type ReadQuery } from '@svc/postgres';
import type pg from 'pg';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { boundedText } from '../../database/item-size.ts';
import {
  decodeCursor,
  encodeCursor,
  type Page,
  Parameters,
  type PlacedPageRequest,
} from '../../database/page.ts';
import { readStoredJson } from '../../database/read-stored-json.ts';
import { isUuid, readableJson } from '../../database/values.ts';
import { itemValue } from '../../items/item-value.ts';
import {
  readItemHashes,
  readJoinedVersion,
  readSectionNames,
  type VersionOfRun,
  versionOf,
} from '../read-items-at.ts';
import { JUDGE_PRICE, runNotFound } from '../run-row.ts';
import {
  countPairs,
  DIFFERENCE_KINDS,
  DIFFERENCES,
  ITEM_IDS,
  PAIR_BY,
  type PairBy,
  type Pairing,
  pairSums,
} from './compare-sql.ts';
import { CLUSTER_BY } from './read-groups.ts';
import { scorerNumber } from './scorer-number.ts';

export interface CompareRequest extends PlacedPageRequest {
  /** Items in which the other run is worse, or better, or has another output; else those with another score. */
  readonly only?: 'regressions' | 'improvements' | 'changed_output' | undefined;
  /** Default: `hash`. */
  readonly pairBy?: PairBy | undefined;
  /** JSON Pointer of the value that clusters items, or `none`; by default that of both runs. */
  readonly clusterBy?: string | undefined;
  /** Name of the scorer of both runs; the main ones without it. */
  readonly scorer?: string | undefined;
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
  /** Whether any output differs. */
  readonly outputChanged: boolean;
}

/** Means of a number of the pairs for which both runs know it; null without one. */
export interface ComparedMeans {
  readonly mean: number | null;
  readonly other_mean: number | null;
  /** Other minus this. */
  readonly mean_difference: number | null;
}

/** How two runs compare, with a page of the items in which they differ. */
export interface RunComparison extends Page<RunDifference> {
  readonly scores: ComparedScores;
  /** By the name of this run's section, in their order: at most the 1,000 with most pairs. */
  readonly bySection: Readonly<Record<string, ComparedScores>>;
  readonly pairBy: PairBy;
  readonly clusterBy: string | null;
  /** Why no items pair; null if some do. */
  readonly reason: string | null;
  /** Pairs of which any output differs. */
  readonly changedOutputs: number;
  /** For one result. */
  readonly latencyMs: ComparedMeans;
  readonly inputTokens: ComparedMeans;
  readonly outputTokens: ComparedMeans;
  /** Null unless both runs have prices in one currency. */
  readonly cost: (ComparedMeans & { readonly currency: string }) | null;
  /** Null for configurations that are too large. */
  readonly configDifferences: readonly ConfigDifference[] | null;
}

/** See `RunStore.compare`. */
export async function compareRuns(
  { pool, searches }: Pick<StoreContext, 'pool' | 'searches'>,
  id: string,
  otherId: string,
  request: CompareRequest,
): Promise<RunComparison> {
  const { limit, cursor, offset = 0, only, pairBy = 'hash', scorer = '', signal } = request;
  const list = `compare ${pairBy} ${only ?? 'all'} ${scorer}`.trimEnd();
  const after = cursor === undefined ? [-1, -1] : decodeCursor(list, ['index', 'index'], cursor);
  for (const wanted of [id, otherId]) if (!isUuid(wanted)) throw runNotFound(wanted);
  using _permit = await searches.acquire(signal);
  const { sums, state } = await storedSums(pool, id, otherId, { ...request, pairBy });
  const query = createReadQuery(pool, signal);
  const kind = DIFFERENCE_KINDS[only ?? 'all'];
  const rows = await query<StoredDifference>(DIFFERENCES, [
    id,
    otherId,
    kind,
    ...after,
    limit + 1,
    keyOf({ pairBy, scorer: request.scorer }),
    cursor === undefined ? offset : 0,
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const { latencyMs, inputTokens, outputTokens, changedOutputs } = sums;
  const [currency, otherCurrency] = state.runs.map(currencyOf);
  return {
    bySection: Object.fromEntries(
      sums.bySection.map(({ section, ...ofSection }) => [section, compareScores(ofSection)]),
    ),
    ...{ scores: compareScores(sums), pairBy, clusterBy: state.clusterBy, reason: sums.reason },
    ...{ changedOutputs, latencyMs, inputTokens, outputTokens },
    cost: currency !== undefined && currency === otherCurrency ? { ...sums.cost, currency } : null,
    configDifferences: differencesOf(state.runs),
    data: await withNames(query, id, state, shown),
    nextCursor:
      rows.length > limit && last !== undefined
        ? encodeCursor(list, [last.sectionOrderIndex, last.orderIndex])
        : null,
    totalItems: totalOf(sums, only),
  };
}

function totalOf(
  { improvements, regressions, changedOutputs }: StoredSums,
  only: CompareRequest['only'],
): number {
  switch (only) {
    case 'improvements':
      return improvements;
    case 'regressions':
      return regressions;
    case 'changed_output':
      return changedOutputs;
    case undefined:
      return improvements + regressions;
  }
}

const currencyOf = ({ price, judgePrice }: ComparedRun): string | undefined => {
  const { model, judge } = readPrices(price, judgePrice);
  return model?.currency ?? judge?.currency;
};

function differencesOf([run, other]: readonly [
  ComparedRun,
  ComparedRun,
]): RunComparison['configDifferences'] {
  if (run.config === null || other.config === null) return null;
  return configDifferences(readStoredJson(run.config), readStoredJson(other.config));
}

type StoredDifference = Omit<RunDifference, 'section' | 'otherSection' | 'itemId' | 'itemHash'> & {
  readonly sectionOrderIndex: number;
  readonly otherSectionOrderIndex: number;
};

/** Adds what sections, results and items know of differences. */
async function withNames(
  query: ReadQuery,
  id: string,
  { runs }: ComparisonState,
  differences: readonly StoredDifference[],
): Promise<readonly RunDifference[]> {
  const [run, other] = runs.map(versionOf) as [VersionOfRun, VersionOfRun];
  if (differences.length === 0) return [];
  const sections = differences.map(({ sectionOrderIndex }) => sectionOrderIndex);
  const names = await readSectionNames(query, run, sections);
  const otherNames = await readSectionNames(
    query,
    other,
    differences.map(({ otherSectionOrderIndex }) => otherSectionOrderIndex),
  );
  const items = differences.map(({ orderIndex }) => orderIndex);
  const rows = await query<{ readonly n: number; readonly itemId: string | null }>(ITEM_IDS, [
    id,
    sections,
    items,
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

/** What is stored of a comparison. */
type StoredSums = PairSums &
  Pick<RunComparison, 'reason' | 'changedOutputs' | 'latencyMs' | 'inputTokens' | 'outputTokens'> & {
    readonly bySection: readonly (PairSums & { readonly section: string })[];
    readonly cost: ComparedMeans;
    readonly improvements: number;
    readonly regressions: number;
  };

/** Changes with the members of {@link StoredSums}, so that no others are read. */
const STORED_FORMAT = 2;

/** Larger configurations are not compared on the main thread. */
const MAX_CONFIG_BYTES = 262_144;

interface ComparedRun {
  readonly id: string;
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly version: string;
  readonly datasetHash: string;
  readonly scored: number;
  readonly scorerNames: string | null;
  readonly clusterBy: string | null;
  readonly config: string | null;
  readonly price: string | null;
  readonly judgePrice: string | null;
}

/** Of which results a comparison is, and how items pair. */
interface ComparisonState {
  readonly runs: readonly [ComparedRun, ComparedRun];
  readonly comparisonOf: string;
  readonly clusterBy: string | null;
  readonly scorers: readonly [number | null, number | null];
}

type Compared = CompareRequest & { readonly pairBy: PairBy };

/** What a comparison is stored by: names have no blanks. */
const keyOf = ({
  pairBy,
  scorer,
}: {
  readonly pairBy: PairBy;
  readonly scorer?: string | undefined;
}): string => (scorer === undefined ? pairBy : `${pairBy} ${scorer}`);

/** Compares once for each state of the two runs, and stores what it finds. */
async function storedSums(
  pool: pg.Pool,
  id: string,
  otherId: string,
  request: Compared,
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
      const [run, other] = state.runs;
      const parameters = new Parameters([id, otherId, key]);
      const versions = await joinedVersions(queryOf(client), state);
      const pairing = {
        ...{ pairBy, scorers: state.scorers, versions },
        haveEqualItems: run.datasetHash === other.datasetHash,
        clusterValue: state.clusterBy === null ? null : itemValue(state.clusterBy, parameters.add),
      };
      const sql = pairSums(pairing, parameters.add);
      const { rows } = await client.query<Omit<StoredSums, 'reason'>>(sql, parameters.values);
      const paired = rows[0] as Omit<StoredSums, 'reason'>;
      const reason = paired.paired > 0 ? null : await reasonOf(client, state, { pairBy, versions });
      const sums = { ...paired, reason };
      await client.query(
        `UPDATE run_comparisons SET comparison_of = $4, summary = $5
         WHERE run_id = $1 AND other_run_id = $2 AND pair_by = $3`,
        [id, otherId, key, state.comparisonOf, JSON.stringify(sums)],
      );
      return { sums, state };
    },
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0; SET LOCAL work_mem = '64MB'; SET LOCAL jit = off",
  );
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

/** The versions of both runs, to join their items. */
export async function joinedVersions(
  query: ReadQuery,
  { runs: [run, other] }: ComparisonState,
): Promise<Pairing['versions']> {
  return [await readJoinedVersion(query, versionOf(run)), await readJoinedVersion(query, versionOf(other))];
}

/** @throws StoreError `run_not_found`; `invalid_request` if the runs are clustered by different values */
export async function stateOf(
  client: pg.Pool | pg.ClientBase,
  id: string,
  otherId: string,
  { clusterBy: wanted, scorer }: Pick<CompareRequest, 'clusterBy' | 'scorer'>,
): Promise<ComparisonState> {
  const { rows } = await client.query<ComparedRun>(
    `SELECT runs.id, runs.dataset_id AS "datasetId", dataset_version AS "datasetVersion", results_version || ':' || ok + failed + unscored AS version, version_hash AS "datasetHash", scored, scorer_names AS "scorerNames",
       ${CLUSTER_BY} AS "clusterBy", ${boundedText('config', MAX_CONFIG_BYTES)} AS config,
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
    throw new StoreError('invalid_request', message);
  }
  const clusterBy = wanted === undefined ? run.clusterBy : wanted === 'none' ? null : wanted;
  const comparisonOf = JSON.stringify([STORED_FORMAT, run.version, other.version, clusterBy]);
  const numberIn = ({ scorerNames }: ComparedRun): number | null =>
    scorer === undefined ? null : scorerNumber(scorerNames, scorer);
  return { runs: [run, other], comparisonOf, clusterBy, scorers: [numberIn(run), numberIn(other)] };
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
