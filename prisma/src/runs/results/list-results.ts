import { createReadQuery, type ReadQuery } from '@svc/postgres';
import type { StoreContext } from '../../context.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../../database/page.ts';
import { isUuid } from '../../database/values.ts';
import type { ListedItem } from '../../datasets/list-items.ts';
import {
  planResults,
  positionOf,
  type ResultPosition,
  readPlannedResults,
  type StoredResult,
} from '../run-results.ts';
import { runNotFound, SUMMARY_VERSION } from '../run-row.ts';
import type { CountedBlocks } from './counted-blocks.ts';
import { type CountedBefore, findResults } from './find-results.ts';
import { itemsOfResults } from './items-of-results.ts';
import type { RunTotals } from './known-total.ts';
import { type ResultsConditions, resultsFilter } from './results-filter.ts';

export interface ResultsRequest extends PageRequest, ResultsConditions {
  /** Whether each result comes with its item. */
  readonly includeItems?: boolean | undefined;
}

/** A result of a page, with its item where that was asked for. */
export interface ResultWithItem extends StoredResult {
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
    maxWholeBytes,
    counted,
  }: Pick<StoreContext, 'pool' | 'searches' | 'largePages' | 'maxItemBytes' | 'maxWholeBytes'> & {
    readonly counted: CountedBlocks;
  },
  id: string,
  { limit, cursor, signal, includeItems = false, ...conditions }: ResultsRequest,
): Promise<ResultsPage> {
  const { after, before } = readCursor(cursor);
  const query = createReadQuery(pool, signal);
  const run = await readRun(query, id);
  const request = { conditions, after, limit, before, signal };
  const { total, within, countedFor } = await findResults(query, { searches, counted }, run, request);
  const filter = resultsFilter(conditions, 7);
  const plan = await planResults(query, { runId: id, after, limit, filter, within, maxBytes: maxItemBytes });
  const permits =
    plan.unreadBytes > 0 ? await largePages.acquire(signal, { permits: plan.unreadBytes }) : undefined;
  let release = (): void => permits?.[Symbol.dispose]();
  try {
    let results: readonly ResultWithItem[] = await readPlannedResults(query, id, plan);
    let hasMore = plan.hasMore;
    let isLarge = plan.unreadBytes > 0;
    if (includeItems) {
      const limits = { largePages, maxItemBytes, maxWholeBytes };
      const found = await itemsOfResults(query, limits, run.datasetId, results, signal);
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
      nextCursor:
        hasMore && last !== undefined
          ? encodeCursor('results', [...positionOf(last), total, countedFor])
          : null,
      totalItems: total,
      isLarge,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}

/** The position in a cursor, and the total that was found with it; those of older versions have none. */
function readCursor(cursor: string | undefined): {
  readonly after: ResultPosition;
  readonly before: CountedBefore | undefined;
} {
  if (cursor === undefined) return { after: [-1, -1, -1], before: undefined };
  try {
    const [section, item, repetition, total, countedFor] = decodeCursor(
      'results',
      ['index', 'index', 'index', 'count', 'text'],
      cursor,
    );
    return { after: [section, item, repetition], before: { total, countedFor } };
  } catch {
    return { after: decodeCursor('results', ['index', 'index', 'index'], cursor), before: undefined };
  }
}

async function readRun(query: ReadQuery, id: string): Promise<RunTotals & { readonly datasetId: string }> {
  const [run] = isUuid(id)
    ? await query<RunTotals & { readonly datasetId: string }>(
        `SELECT id, dataset_id AS "datasetId", results_version || ':' || ok + failed + unscored AS version, ok, failed,
           unscored, passed, scored, imported,
           CASE WHEN summary_of = ${SUMMARY_VERSION} THEN summary END AS summary
         FROM runs WHERE id = $1`,
        [id],
      )
    : [];
  if (run === undefined) throw runNotFound(id);
  return run;
}
