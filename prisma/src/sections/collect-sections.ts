import { HAS_ENDED, inTransaction } from '@svc/postgres';
import type pg from 'pg';
import { NIL_UUID } from '../database/values.ts';

/** Items that one transaction removes. */
const ITEMS_PER_TURN = 10_000;
/** Sections that one query finds. */
const SECTIONS_PER_PAGE = 1_000;

/**
 * Removes the items of noted sections that have no row, and whose transaction has ended. Any number of processes may do so
 * at once, while imports copy.
 *
 * @param signal ends it early, between two transactions; what is left is removed the next time
 * @returns how many items it removed
 */
export async function collectSections(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after = NIL_UUID; ; ) {
    const { rows } = await pool.query<{ readonly id: string }>(
      `SELECT section_id AS id FROM loose_sections WHERE section_id > $1 AND ${HAS_ENDED}
       ORDER BY section_id LIMIT ${SECTIONS_PER_PAGE}`,
      [after],
    );
    for (const { id } of rows) removed += await removeLooseSection(pool, id, signal);
    const last = rows.at(-1);
    if (last === undefined || signal?.aborted === true) return removed;
    after = last.id;
  }
}

/**
 * Removes the items of one section, if that is due; in several transactions when they are many.
 *
 * @param statementMs for how long a statement may run or wait for a lock; by default without limit
 * @returns how many
 */
export async function removeLooseSection(
  pool: pg.Pool,
  sectionId: string,
  signal?: AbortSignal,
  statementMs = 0,
): Promise<number> {
  const begin = `BEGIN; SET LOCAL statement_timeout = ${statementMs}`;
  let removed = 0;
  for (let first = 0; signal?.aborted !== true; first += ITEMS_PER_TURN) {
    const turn = await inTransaction(pool, (client) => removeSome(client, sectionId, first), begin);
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
  // An import that still copies holds the row.
  const { rowCount } = await client.query(
    `SELECT FROM loose_sections WHERE section_id = $1 AND ${HAS_ENDED} FOR UPDATE SKIP LOCKED`,
    [sectionId],
  );
  if (rowCount === 0) return { removed: 0, isLast: true };
  // A separate statement, which sees what that transaction has committed.
  const { rows: found } = await client.query('SELECT FROM sections WHERE id = $1', [sectionId]);
  const last = found.length > 0 ? null : await lastOrderIndex(client, sectionId);
  const end = first + ITEMS_PER_TURN;
  const removed =
    last === null
      ? null
      : await client.query(
          'DELETE FROM items WHERE section_id = $1 AND order_index >= $2 AND order_index < $3',
          [sectionId, first, end],
        );
  const isLast = last === null || last < end;
  if (isLast) await client.query('DELETE FROM loose_sections WHERE section_id = $1', [sectionId]);
  return { removed: removed?.rowCount ?? 0, isLast };
}

async function lastOrderIndex(client: pg.ClientBase, sectionId: string): Promise<number | null> {
  const { rows } = await client.query<{ readonly last: number }>(
    'SELECT order_index AS last FROM items WHERE section_id = $1 ORDER BY order_index DESC LIMIT 1',
    [sectionId],
  );
  return rows[0]?.last ?? null;
}
