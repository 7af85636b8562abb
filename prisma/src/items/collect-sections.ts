import { inTransaction } from '@svc/postgres';
import type pg from 'pg';
import { NIL_UUID } from '../database/values.ts';

/** Items that one transaction removes. */
const ITEMS_PER_TURN = 10_000;
/** Sections that one query finds. */
const SECTIONS_PER_PAGE = 1_000;

/**
 * Removes the items of deleted sections. Any number of processes may do so concurrently.
 *
 * @param signal ends it early, between two transactions; what is left is removed the next time
 * @returns how many items it removed
 */
export async function collectSections(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after = NIL_UUID; ; ) {
    const { rows } = await pool.query<{ readonly id: string }>(
      `SELECT section_id AS id FROM loose_sections WHERE section_id > $1
       ORDER BY section_id LIMIT ${SECTIONS_PER_PAGE}`,
      [after],
    );
    for (const { id } of rows) removed += await removeLooseSection(pool, id, signal);
    const last = rows.at(-1);
    if (last === undefined || signal?.aborted === true) return removed;
    after = last.id;
  }
}

/** Removes the items of one section, in several transactions when they are many. @returns how many */
async function removeLooseSection(pool: pg.Pool, sectionId: string, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let first = 0; signal?.aborted !== true; first += ITEMS_PER_TURN) {
    const turn = await inTransaction(pool, (client) => removeSome(client, sectionId, first));
    removed += turn.removed;
    if (turn.isLast) break;
  }
  return removed;
}

interface Turn {
  readonly removed: number;
  readonly isLast: boolean;
}

/** Removes the items from an order index on. */
async function removeSome(client: pg.ClientBase, sectionId: string, first: number): Promise<Turn> {
  // Another process that removes them holds the row.
  const { rowCount } = await client.query(
    'SELECT FROM loose_sections WHERE section_id = $1 FOR UPDATE SKIP LOCKED',
    [sectionId],
  );
  if (rowCount === 0) return { removed: 0, isLast: true };
  const last = await lastOrderIndex(client, sectionId);
  const end = first + ITEMS_PER_TURN;
  const removed = await client.query(
    'DELETE FROM items WHERE section_id = $1 AND order_index >= $2 AND order_index < $3',
    [sectionId, first, end],
  );
  const isLast = last === null || last < end;
  if (isLast) await client.query('DELETE FROM loose_sections WHERE section_id = $1', [sectionId]);
  return { removed: removed.rowCount ?? 0, isLast };
}

async function lastOrderIndex(client: pg.ClientBase, sectionId: string): Promise<number | null> {
  const { rows } = await client.query<{ readonly last: number }>(
    'SELECT order_index AS last FROM items WHERE section_id = $1 ORDER BY order_index DESC LIMIT 1',
    [sectionId],
  );
  return rows[0]?.last ?? null;
}
