import type { StoreContext } from '../../context.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../../database/page.ts';
import { createReadQuery, type ReadQuery } from '../../database/read-query.ts';
import { isUuid } from '../../database/values.ts';
import type { ListedItem } from '../../datasets/list-items.ts';
import {
  type ListedResult,
  planResults,
  positionOf,
  type ResultPosition,
  readPlannedResults,
} from '../run-results.ts';
import { runNotFound } from '../run-row.ts';
import { itemsOfResults } from './items-of-results.ts';
import { type ResultsConditions, resultsFilter } from './results-filter.ts';

export interface ResultsRequest extends PageRequest, ResultsConditions {
  /** Whether each result comes with its item. */
  readonly includeItems?: boolean | undefined;
}

/** A result of a page, with its item where that was asked for. */
export interface ResultWithItem extends ListedResult {
  /** Null without a payload where the item is too large; absent where it was not asked for. */
  readonly item?: ListedItem | null | undefined;
}

/** A page of results, whose memory is accounted for until it is released. */
export interface ResultsPage extends Page<ResultWithItem> {
  /** Whether the page is large, so that it should be sent in pieces. */
  readonly isLarge: boolean;
  /** Call it when the page was sent, or is not needed. */
  release(): void;
}

/** See `RunStore.listResults`. */
export async function listResults(
  {
    pool,
    searches,
    largePages,
    maxItemBytes,
  }: Pick<StoreContext, 'pool' | 'searches' | 'largePages' | 'maxItemBytes'>,
  id: string,
  { limit, cursor, signal, includeItems = false, ...conditions }: ResultsRequest,
): Promise<ResultsPage> {
  const after: ResultPosition =
    cursor === undefined ? [-1, -1, -1] : decodeCursor('results', ['index', 'index', 'index'], cursor);
  const query = createReadQuery(pool, signal);
  const run = await readRun(query, id);
  // The counts of the run answer the first of these; every other filter reads all of its results.
  const { status, ...others } = conditions;
  const isCounted = Object.values(others).every((value) => value === undefined);
  using _permit = isCounted ? undefined : await searches.acquire(signal);
  const totalItems = isCounted ? totalOf(run, status) : await countResults(query, id, conditions);
  const filter = resultsFilter(conditions, 7);
  const plan = await planResults(query, { runId: id, after, limit, filter, maxBytes: maxItemBytes });
  const permits = plan.unreadBytes > 0 ? await largePages.acquire(signal, plan.unreadBytes) : undefined;
  let release = (): void => permits?.[Symbol.dispose]();
  try {
    let results: readonly ResultWithItem[] = await readPlannedResults(query, id, plan);
    let hasMore = plan.hasMore;
    let isLarge = plan.unreadBytes > 0;
    if (includeItems) {
      const found = await itemsOfResults(query, { largePages, maxItemBytes }, run.datasetId, results, signal);
      const releaseResults = release;
      release = () => {
        releaseResults();
        found.release();
      };
      isLarge ||= found.isLarge;
      hasMore ||= found.results.length < results.length;
      results = found.results;
    }
    const last = results.at(-1);
    return {
      data: results,
      nextCursor: hasMore && last !== undefined ? encodeCursor('results', positionOf(last)) : null,
      totalItems,
      isLarge,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

interface RunCounts {
  readonly datasetId: string;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
}

async function readRun(query: ReadQuery, id: string): Promise<RunCounts> {
  const [run] = isUuid(id)
    ? await query<RunCounts>(
        'SELECT dataset_id AS "datasetId", ok, failed, unscored FROM runs WHERE id = $1',
        [id],
      )
    : [];
  if (run === undefined) throw runNotFound(id);
  return run;
}

function totalOf(run: RunCounts, status: ResultsConditions['status']): number {
  return status === undefined ? run.ok + run.failed + run.unscored : run[status];
}

async function countResults(query: ReadQuery, id: string, conditions: ResultsConditions): Promise<number> {
  const { sql, values } = resultsFilter(conditions, 2);
  const [row] = await query<{ count: string }>(
    `SELECT count(*) FROM run_results result WHERE run_id = $1 ${sql}`,
    [id, ...values],
  );
  return Number(row?.count ?? 0);
}
