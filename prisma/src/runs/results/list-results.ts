import type { StoreContext } from '../../context.ts';
import {
  cursorAfter,
  decodeCursor,
  type HeldPage,
  holdPage,
  type Page,
  type PlacedPageRequest,
} from '../../database/page.ts';
import type { ListedItem } from '../../items/list-items.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { readResultLabels } from '../labels/result-labels.ts';
import { readJoinedVersion } from '../read-items-at.ts';
import {
  findResultAt,
  type LabelledResult,
  planResults,
  positionOf,
  type ResultPosition,
  type ResultsFilter,
  readPlannedResults,
} from '../run-results.ts';
import { readRunColumns, SUMMARY_VERSION, versionOf } from '../run-row.ts';
import { scorerNumber } from '../write/result-counts.ts';
import { itemsOfResults } from './items-of-results.ts';
import { filterByKeys, type ResultsConditions, resultsFilter } from './results-filter.ts';
import {
  countResults,
  findMatchingAt,
  findMatchingBehind,
  lastSampleKey,
  type Matching,
  type ResultsTotal,
  type RunTotals,
  sampleOrder,
} from './search-results.ts';
import {
  filterBySorted,
  findSorted,
  isSortedByText,
  type ResultsSort,
  type ResultsSorting,
  sortingOf,
} from './sort-results.ts';

export interface ResultsRequest extends PlacedPageRequest, Omit<ResultsConditions, 'scorerNumber'> {
  /** Name of the scorer that `passed` and the bounds of the score are about; the main one without it. */
  readonly scorer?: string | undefined;
  /** Whether each result comes with its item. */
  readonly includeItems?: boolean | undefined;
  /** Default: `order`. */
  readonly sort?: ResultsSort | undefined;
}

/** A result of a page, with its item where that was asked for. */
export interface ResultWithItem extends LabelledResult {
  /** Null without a payload where the item is too large; absent where it was not asked for. */
  readonly item?: ListedItem | null | undefined;
}

/** A page of results, whose memory is accounted for until it is released. */
export interface ResultsPage extends Page<ResultWithItem>, HeldPage {}

/**
 * Results in item order. A page ends early when its results are large; one that is larger than an item may be comes
 * without its texts.
 *
 * @throws StoreError `run_not_found`, `invalid_cursor`
 */
export async function listResults(
  context: StoreContext,
  id: string,
  request: ResultsRequest,
): Promise<ResultsPage> {
  const { pool, searches, largePages, maxItemBytes } = context;
  const {
    limit,
    cursor,
    signal,
    includeItems = false,
    sort = 'order',
    offset = 0,
    scorer,
    ...stated
  } = request;
  const { sample } = stated;
  const list = sample === undefined ? `results ${id} ${sort}` : `sample ${id} ${sample.seed} ${sample.n}`;
  const { before, ...afterCursor } = readCursor(cursor, list, sort);
  const query = createReadQuery(pool, signal);
  const run = await readRunColumns<CountedRun>(query, id, COUNTED_RUN);
  const { order, text }: ResultsSorting =
    sample === undefined ? sortingOf(sort, run.scorerNames) : { order: sampleOrder(sample.seed), text: null };
  const number = scorer === undefined ? null : scorerNumber(run.scorerNames, scorer);
  const unsampled = {
    ...stated,
    ...(number !== null && isAboutScores(stated) && { scorerNumber: number }),
  };
  const hasItemConditions = stated.q !== undefined || (stated.values?.length ?? 0) > 0;
  const joined =
    hasItemConditions || text?.ofItem !== undefined ? await readJoinedVersion(query, versionOf(run)) : null;
  const items = hasItemConditions ? joined : null;
  const conditions =
    sample === undefined
      ? unsampled
      : await withLastKey(query, searches, { runId: id, conditions: unsampled, items }, sample, signal);
  const counted = await countResults(query, searches, run, { conditions, items }, before, signal);
  const { keys, total } = counted;
  const filterFrom = (first: number): ResultsFilter =>
    keys === undefined ? resultsFilter(conditions, first) : filterByKeys(keys, first);
  const isAt = cursor === undefined && offset > 0;
  const searched = keys === undefined && items !== null ? { runId: id, conditions, items } : null;
  const isEmpty = total === 0;
  const sorted =
    text === null || isEmpty
      ? null
      : await inTurn(searches, signal, () =>
          findSorted(query, { runId: id, conditions, items: joined }, text, {
            ...{ ...afterCursor, index: isAt ? offset : 0, limit: limit + 1, order },
          }),
        );
  // A search that finds nothing need not be done twice.
  const start = isEmpty
    ? undefined
    : sorted !== null
      ? BEGINNING
      : isAt
        ? searched === null
          ? await findResultAt(query, { runId: id, index: offset - 1, filter: filterFrom(3), order })
          : await findMatchingAt(query, searched, { index: offset - 1, order })
        : (afterCursor as typeof BEGINNING);
  const found =
    sorted !== null || searched === null || start === undefined
      ? null
      : await findMatchingBehind(query, searched, { ...start, limit: limit + 1, order });
  const filter =
    sorted !== null ? filterBySorted(sorted, 7) : found === null ? filterFrom(7) : filterByKeys(found, 7);
  const plan =
    start === undefined || (sorted ?? found)?.length === 0
      ? { results: [], hasMore: false, unreadBytes: 0 }
      : await planResults(query, {
          ...{ runId: id, ...start, limit, filter, order, maxBytes: maxItemBytes },
        });
  const page = await holdPage(largePages, plan.unreadBytes, signal, async () => {
    const read = await readPlannedResults(query, id, plan);
    const results = await readResultLabels(query, read);
    const withItems = includeItems
      ? await itemsOfResults(query, context, versionOf(run), results, signal)
      : null;
    const shown: readonly ResultWithItem[] = withItems?.results ?? results;
    return { shown, withItems, hasMore: plan.hasMore || shown.length < read.length };
  });
  const { shown, withItems } = page;
  return {
    data: shown,
    nextCursor: cursorAfter(list, shown, page.hasMore, (last) => [
      ...[...positionOf(last), cursorValue(last.sortValue)],
      ...[total, counted.countedFor],
    ]),
    totalItems: total,
    isLarge: page.isLarge || withItems?.isLarge === true,
    release() {
      page.release();
      withItems?.release();
    },
  };
}

/** Finds the last result of a sample, so that each statement need not. */
async function withLastKey(
  query: ReadQuery,
  searches: StoreContext['searches'],
  matching: Matching,
  sample: NonNullable<ResultsConditions['sample']>,
  signal: AbortSignal | undefined,
): Promise<ResultsConditions> {
  using _permit = await searches.acquire(signal);
  return {
    ...matching.conditions,
    sample: { ...sample, lastKey: await lastSampleKey(query, matching, sample) },
  };
}

/** Whether it matters whose scores are meant. */
const isAboutScores = ({ status, passed, min_score, max_score }: ResultsConditions): boolean =>
  [status, passed, min_score, max_score].some((value) => value !== undefined);

/**
 * The position in a cursor, and the total that was found with it.
 *
 * @param list a cursor of one order is invalid for another
 */
function readCursor(
  cursor: string | undefined,
  list: string,
  sort: ResultsSort,
): {
  readonly after: ResultPosition;
  /** Null without a value; undefined at the beginning. */
  readonly afterValue: number | string | null | undefined;
  readonly before: ResultsTotal | undefined;
} {
  if (cursor === undefined) {
    const start = sort.startsWith('-') ? 0x7fff_ffff : -1;
    return { after: [start, start, start], afterValue: undefined, before: undefined };
  }
  const [section, item, repetition, stated, total, countedFor] = decodeCursor(
    list,
    ['index', 'index', 'index', isSortedByText(sort) ? 'text' : 'number', 'count', 'text'],
    cursor,
  );
  return {
    after: [section, item, repetition],
    afterValue: stated === 'null' ? null : stated.startsWith('=') ? stated.slice(1) : Number(stated),
    before: { total, countedFor },
  };
}

/** What a list is sorted by at a position, as a cursor has it. */
const cursorValue = (value: number | string | null = null): string =>
  typeof value === 'string' ? `=${value}` : JSON.stringify(value);

/** Before everything, in an order that its results have with them. */
const BEGINNING: { readonly after: ResultPosition; readonly afterValue: number | null | undefined } = {
  after: [-1, -1, -1],
  afterValue: undefined,
};

/** Does what looks at many results when it is its turn. */
async function inTurn<T>(
  searches: StoreContext['searches'],
  signal: AbortSignal | undefined,
  search: () => Promise<T>,
): Promise<T> {
  using _permit = await searches.acquire(signal);
  return await search();
}

type CountedRun = RunTotals & {
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly scorerNames: string | null;
};

const COUNTED_RUN = `id, dataset_id AS "datasetId", dataset_version AS "datasetVersion", scorer_names AS "scorerNames",
  ${SUMMARY_VERSION} AS version, ok + failed + unscored AS results`;
