import type { ItemParts, LinkedFile } from '@svc/jsonl-v23/internal';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import type { ItemPosition } from '../../items/item-places.ts';
import { createReadQuery } from '../../postgres/read-query.ts';
import { keyOf, versionOf } from '../read-items-at.ts';
import { readRun } from '../read-run.ts';
import { readItemsAt } from '../read-stored-outputs.ts';
import type { Run } from '../run-row.ts';
import { findResult, type ResultName } from './find-result.ts';

/** The item of a result, without the content of its files. */
export interface ItemOfResult {
  readonly run: Run;
  readonly parts: ItemParts;
  readonly linkedFiles: readonly LinkedFile[];
}

const POSITION = `result.section_order_index AS "sectionOrderIndex", result.order_index AS "orderIndex"`;

/** See `RunStore.itemOfResult`. */
export async function readItemOfResult(
  { pool, ...limits }: Pick<StoreContext, 'pool' | 'maxItemBytes' | 'maxWholeBytes'>,
  id: string,
  name: ResultName,
  signal: AbortSignal | undefined,
): Promise<ItemOfResult | null> {
  const query = createReadQuery(pool, signal);
  const run = await readRun(query, id);
  const position = await findResult<ItemPosition>(query, id, name, POSITION);
  if (position === undefined) return null;
  const { items } = await readItemsAt(query, limits, versionOf(run), [position]);
  const item = items.get(keyOf(position));
  if (item === undefined) return null;
  if (item.parts === null) {
    throw new StoreError('item_too_large', item.failure?.message ?? 'The item is too large.');
  }
  return { run, parts: item.parts, linkedFiles: item.linkedFiles ?? [] };
}
