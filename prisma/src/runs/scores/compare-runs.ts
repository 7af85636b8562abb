import {
  type ComparedScores,
  type ConfigDifference,
  compareScores,
  configDifferences,
  type PairSums,
  readPrices,
} from '@svc/evaluation';
import type { StoreContext } from '../../context.ts';
import {
  cursorAfter,
  decodeCursor,
  type Page,
  Parameters,
  type PlacedPageRequest,
} from '../../database/page.ts';
import { readStoredJson } from '../../database/read-stored-json.ts';
import { itemValue } from '../../items/find-items-sql.ts';
import { positionColumns } from '../../items/item-ranges.ts';
import {
  createReadQuery,
  LARGE_JOINS,
  type ReadQuery,
  readFrom,
  SNAPSHOT,
} from '../../postgres/read-query.ts';
import { readItemHashes, readSectionNames } from '../read-items-at.ts';
import { type VersionOfRun, versionOf } from '../run-row.ts';
import { DIFFERENCE_KINDS, DIFFERENCES, ITEM_IDS, type PairBy, pairSlices } from './compare-sql.ts';
import { MAX_VALUES, notSliceable } from './slice-run.ts';
import {
  type ComparedBy,
  type ComparedMeans,
  type ComparedRun,
  type ComparisonState,
  keyOf,
  pairingOf,
  type StoredSums,
  stateOf,
  storedSums,
} from './stored-sums.ts';
import { LONG_VALUE } from './summary-sql.ts';

export interface CompareRequest extends PlacedPageRequest, ComparedBy {
  /** Items in which the other run is worse, or better, or has another output; else those with another score. */
  readonly only?: 'regressions' | 'improvements' | 'changed_output' | undefined;
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
export interface RunComparison
  extends Page<RunDifference>,
    Pick<StoredSums, 'reason' | 'changedOutputs' | 'latencyMs' | 'inputTokens' | 'outputTokens'> {
  readonly scores: ComparedScores;
  /** By the name of this run's section, in their order: at most the 1,000 with most pairs. */
  readonly bySection: Readonly<Record<string, ComparedScores>>;
  readonly pairBy: PairBy;
  readonly clusterBy: string | null;
  /** Null unless both runs have prices in one currency. */
  readonly cost: (ComparedMeans & { readonly currency: string }) | null;
  /** Null for configurations that are too large. */
  readonly configDifferences: readonly ConfigDifference[] | null;
}

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
): Promise<RunComparison> {
  const { limit, cursor, offset = 0, only, pairBy = 'hash', scorer = '', signal } = request;
  const list = `compare ${id} ${otherId} ${pairBy} ${only ?? 'all'} ${scorer}`.trimEnd();
  const after = cursor === undefined ? [-1, -1] : decodeCursor(list, ['index', 'index'], cursor);
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
  const { latencyMs, inputTokens, outputTokens, changedOutputs, improvements, regressions } = sums;
  const totals = { improvements, regressions, changed_output: changedOutputs };
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

/** How two runs differ in the pairs whose items have the same value. */
export interface ComparedSlice {
  /** JSON text; `null` for items without the value. */
  readonly value: string;
  readonly scores: ComparedScores;
}

export interface CompareSlicesRequest
  extends Pick<CompareRequest, 'pairBy' | 'clusterBy' | 'scorer' | 'signal'> {
  /** `tag`, or a JSON Pointer into the items of the first run. */
  readonly by: string;
}

/**
 * How two runs differ in the slices of their pairs, those with most pairs first: of tags the first 50.
 *
 * @throws StoreError `run_not_found`; `invalid_request` for more than 50 values of a pointer, or if the runs are clustered
 *   by different values and the request names none
 */
export async function compareSlices(
  { pool, searches }: StoreContext,
  id: string,
  otherId: string,
  { by, pairBy = 'hash', signal, ...request }: CompareSlicesRequest,
): Promise<readonly ComparedSlice[]> {
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
