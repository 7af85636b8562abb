import type { RunResultStatus } from '@svc/evaluation';
import type { StoreContext } from '../context.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../database/page.ts';
import { createReadQuery } from '../database/read-query.ts';
import { isUuid } from '../database/values.ts';
import {
  type ListedResult,
  planResults,
  positionOf,
  type ResultPosition,
  readPlannedResults,
} from './run-results.ts';
import { runNotFound } from './run-row.ts';

export interface ResultsRequest extends PageRequest {
  readonly status?: RunResultStatus | undefined;
}

/** A page of results, whose memory is accounted for until it is released. */
export interface ResultsPage extends Page<ListedResult> {
  /** Whether the page is large, so that it should be sent in pieces. */
  readonly isLarge: boolean;
  /** Call it when the page was sent, or is not needed. */
  release(): void;
}

/** See `RunStore.listResults`. */
export async function listResults(
  { pool, largePages, maxItemBytes }: Pick<StoreContext, 'pool' | 'largePages' | 'maxItemBytes'>,
  id: string,
  { limit, cursor, status, signal }: ResultsRequest,
): Promise<ResultsPage> {
  const after: ResultPosition =
    cursor === undefined ? [-1, -1, -1] : decodeCursor('results', ['index', 'index', 'index'], cursor);
  const query = createReadQuery(pool, signal);
  const [run] = isUuid(id)
    ? await query<Record<RunResultStatus, number>>('SELECT ok, failed, unscored FROM runs WHERE id = $1', [
        id,
      ])
    : [];
  if (run === undefined) throw runNotFound(id);
  const plan = await planResults(query, { runId: id, after, limit, status, maxBytes: maxItemBytes });
  const permits = plan.unreadBytes > 0 ? await largePages.acquire(signal, plan.unreadBytes) : undefined;
  const release = (): void => permits?.[Symbol.dispose]();
  try {
    const results = await readPlannedResults(query, id, plan);
    const last = results.at(-1);
    return {
      data: results,
      nextCursor: plan.hasMore && last !== undefined ? encodeCursor('results', positionOf(last)) : null,
      totalItems: status === undefined ? run.ok + run.failed + run.unscored : run[status],
      isLarge: plan.unreadBytes > 0,
      release,
    };
  } catch (error) {
    release();
    throw error;
  }
}
