import type { ItemParts, LinkedFile } from '@svc/jsonl-v23/internal';
import type pg from 'pg';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { searchableText } from '../../database/values.ts';
import { type ItemPosition, ofRun } from '../../items/item-ranges.ts';
import { createReadQuery, type ReadQuery } from '../../postgres/read-query.ts';
import { keyOf, versionOf } from '../read-items-at.ts';
import { readRun } from '../read-run.ts';
import { readItemsAt } from '../read-stored-outputs.ts';
import type { Run } from '../run-row.ts';

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

/** Names a result of a run. */
export interface ResultName {
  readonly section: string;
  readonly orderIndex: number;
  readonly repetition: number;
}

/** Reads some columns of a result; undefined if the run has no such result. @param columns SQL about `run_results result` */
export async function findResult<Row extends pg.QueryResultRow>(
  query: ReadQuery,
  runId: string,
  { section, orderIndex, repetition }: ResultName,
  columns: string,
): Promise<Row | undefined> {
  const [row] = await query<Row>(
    `SELECT ${columns}
     FROM runs run JOIN version_sections s ON ${ofRun('run')} AND s.name = $2
       JOIN run_results result ON result.run_id = run.id AND result.section_order_index = s.order_index
         AND result.order_index = $3::int AND result.repetition = $4::int
     WHERE run.id = $1 ORDER BY s.order_index LIMIT 1`,
    [runId, searchableText(section), orderIndex, repetition],
  );
  return row;
}
