import type { ItemParts, LinkedFile } from '@svc/jsonl-v23/internal';
import { createReadQuery } from '@svc/postgres';
import type { StoreContext } from '../../context.ts';
import { StoreError } from '../../database/errors.ts';
import { isUuid, searchableText } from '../../database/values.ts';
import { ofRun } from '../../items/version-sql.ts';
import { type ItemPosition, keyOf, versionOf } from '../read-items-at.ts';
import { readItemsAt } from '../read-stored-outputs.ts';
import { RUN_COLUMNS, type Run, type RunRow, runNotFound, toRun } from '../run-row.ts';

/** Names a result of a run. */
export interface ResultName {
  readonly section: string;
  readonly orderIndex: number;
  readonly repetition: number;
}

/** The item of a result, without the content of its files. */
export interface ItemOfResult {
  readonly run: Run;
  readonly parts: ItemParts;
  readonly linkedFiles: readonly LinkedFile[];
}

const POSITION = `
  SELECT result.section_order_index AS "sectionOrderIndex", result.order_index AS "orderIndex"
  FROM runs run JOIN version_sections s ON ${ofRun('run')} AND s.name = $2
    JOIN run_results result ON result.run_id = run.id AND result.section_order_index = s.order_index
      AND result.order_index = $3::int AND result.repetition = $4::int
  WHERE run.id = $1 ORDER BY 1 LIMIT 1`;

/** See `RunStore.itemOfResult`. */
export async function readItemOfResult(
  { pool, ...limits }: Pick<StoreContext, 'pool' | 'maxItemBytes' | 'maxWholeBytes'>,
  id: string,
  { section, orderIndex, repetition }: ResultName,
  signal: AbortSignal | undefined,
): Promise<ItemOfResult | null> {
  if (!isUuid(id)) throw runNotFound(id);
  const query = createReadQuery(pool, signal);
  const [row] = await query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1`, [id]);
  if (row === undefined) throw runNotFound(id);
  const wanted = [id, searchableText(section), orderIndex, repetition];
  const [position] = await query<ItemPosition>(POSITION, wanted);
  if (position === undefined) return null;
  const run = toRun(row);
  const { items } = await readItemsAt(query, limits, versionOf(run), [position]);
  const item = items.get(keyOf(position));
  if (item === undefined) return null;
  if (item.parts === null) {
    throw new StoreError('item_too_large', item.failure?.message ?? 'The item is too large.');
  }
  return { run, parts: item.parts, linkedFiles: item.linkedFiles ?? [] };
}
