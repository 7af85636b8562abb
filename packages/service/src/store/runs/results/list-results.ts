import type { StoreContext } from '../../context.ts';
import { cursorAfter, decodeCursor, holdPage, type PlacedPageRequest } from '../../database/page.ts';
import type { ListedItem } from '../../items/list-items.ts';
import { createReadQuery } from '../../postgres/read-query.ts';
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
import { scorerNumber } from '../write/insert-results.ts';
import { itemsOfResults } from './items-of-results.ts';
import { filterByKeys, type ResultsConditions, resultsFilter } from './results-filter.ts';
import {
  areOnItems,
  BEGINNING,
  countResults,
  filterBySorted,
  findMatchingBehind,
  findOrdered,
  isSortedByText,
  type Matching,
  type ResultsSort,
  type ResultsTotal,
  type RunTotals,
  sampleOrder,
  sortingOf,
} from './search-results.ts';

export interface ResultsRequest extends PlacedPageRequest, Omit<ResultsConditions, 'scorerNumber'> {
  /** Name of the scorer that `passed` and the bounds of the score are about; the main one without it. */
  readonly scorer?: string | undefined;
  readonly includeItems?: boolean | undefined;
  /** Default: `order`. */
  readonly sort?: ResultsSort | undefined;
}

/** A result of a page, with its item where that was asked for. */
export interface ResultWithItem extends LabelledResult {
  /** Null without a payload where the item is too large; absent where it was not asked for. */
  readonly item?: ListedItem | null | undefined;
}

/**
 * Results in item order. A page ends early when its results are large; one that is larger than an item may be comes
 * without its texts. The memory of a page is accounted for until it is released.
 *
 * @throws StoreError `run_not_found`, `invalid_cursor`
 */
export async function listResults(context: StoreContext, id: string, request: ResultsRequest) {
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
  const sorting =
    sample === undefined ? sortingOf(sort, run.scorerNames) : { order: sampleOrder(sample.seed), text: null };
  const { order, text } = sorting;
  const number = scorer === undefined ? null : scorerNumber(run.scorerNames, scorer);
  const scored = { ...stated, ...(number !== null && isAboutScores(stated) && { scorerNumber: number }) };
  const isSearch = areOnItems(scored);
  const items =
    isSearch || text?.ofItem !== undefined ? await readJoinedVersion(query, versionOf(run)) : null;
  const ordered = { ...BEGINNING, ...sorting, signal };
  let matching: Matching = { runId: id, conditions: scored, items };
  if (sample !== undefined) {
    // The last result of the sample is found once, so that each statement need not.
    const [last] = await findOrdered(context, matching, { ...ordered, index: sample.n - 1, limit: 1 });
    const lastKey = (last?.sortValue ?? null) as number | null;
    matching = { ...matching, conditions: { ...scored, sample: { ...sample, lastKey } } };
  }
  const counted = await countResults(query, searches, run, matching, before, signal);
  const { keys, total } = counted;
  const isAt = cursor === undefined && offset > 0;
  const isSearched = keys === undefined && isSearch;
  let start: Pick<typeof ordered, 'after' | 'afterValue'> | undefined = afterCursor;
  const filterFrom = (first: number): ResultsFilter =>
    keys === undefined ? resultsFilter(matching.conditions, first) : filterByKeys(keys, first);
  let filter = filterFrom(7);
  // A search that finds nothing need not be done twice.
  if (total === 0) start = undefined;
  else if (text !== null) {
    const from = { ...ordered, ...afterCursor, ...(isAt && { index: offset }) };
    const sorted = await findOrdered(context, matching, { ...from, limit: limit + 1 });
    start = sorted.length === 0 ? undefined : BEGINNING;
    filter = filterBySorted(sorted, 7);
  } else if (isAt && isSearched) {
    const [last] = await findOrdered(context, matching, { ...ordered, index: offset - 1, limit: 1 });
    start = last && { after: positionOf(last), afterValue: last.sortValue };
  } else if (isAt) {
    start = await findResultAt(query, { runId: id, index: offset - 1, filter: filterFrom(3), order });
  }
  if (isSearched && text === null && start !== undefined) {
    const found = await findMatchingBehind(query, matching, { ...start, limit: limit + 1, order });
    if (found.length === 0) start = undefined;
    filter = filterByKeys(found, 7);
  }
  const plan =
    start === undefined
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

type CountedRun = RunTotals & {
  readonly datasetId: string;
  readonly datasetVersion: number;
  readonly scorerNames: string | null;
};

const COUNTED_RUN = `id, dataset_id AS "datasetId", dataset_version AS "datasetVersion", scorer_names AS "scorerNames",
  ${SUMMARY_VERSION} AS version, ok + failed + unscored AS results`;
