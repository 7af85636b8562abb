import type { StoreContext } from '../../context.ts';
import { createReadQuery } from '../../postgres/read-query.ts';
import { versionOf } from '../read-items-at.ts';
import { itemsOfResults, type ResultItem } from '../results/items-of-results.ts';
import type { Run } from '../run-row.ts';
import { findMissing, type PendingPosition } from './find-missing.ts';

/** A result that a run lacks, with its item. */
export interface PendingResult extends PendingPosition {
  /** Without a payload where it is too large. */
  readonly item: ResultItem;
}

/** Items that are read together. */
const PAGE = 100;

type Context = Pick<StoreContext, 'pool' | 'largePages' | 'maxItemBytes' | 'maxWholeBytes'>;

/** See `RunStore.readPending`. Pages are read as they are taken; between them, no connection is held. */
export async function* readPending(
  context: Context,
  run: Run,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<PendingResult, void, undefined> {
  const query = createReadQuery(context.pool, signal);
  let left = limit;
  for await (const { found } of findMissing(query, run, { limit: () => Math.min(left, PAGE) })) {
    yield* withItems(context, run, found, signal);
    left -= found.length;
    if (left <= 0) return;
  }
}

/** Adds their items to results that a run lacks, a page at a time. */
export async function* withItems(
  context: Context,
  run: Run,
  positions: readonly PendingPosition[],
  signal: AbortSignal,
): AsyncGenerator<PendingResult, void, undefined> {
  const query = createReadQuery(context.pool, signal);
  for (let start = 0; start < positions.length; ) {
    signal.throwIfAborted();
    const page = positions.slice(start, start + PAGE);
    const found = await itemsOfResults(query, context, versionOf(run), page, signal);
    try {
      for (const { item, ...position } of found.results) if (item !== null) yield { ...position, item };
    } finally {
      found.release();
    }
    start += found.results.length;
  }
}
