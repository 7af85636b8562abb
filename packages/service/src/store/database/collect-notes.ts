import type pg from 'pg';
import { inTransaction } from '../postgres/pool.ts';

const ROWS_PER_PAGE = 1_000;

/**
 * Does some work for each row of a table, in the order of their ids.
 *
 * @param selected SQL after SELECT, with the `id`, up to a condition on the rows
 * @param signal ends it early, behind a page; `work` does nothing more once it is aborted
 */
export async function sumOfRows<Row extends { readonly id: string }>(
  pool: pg.Pool,
  selected: string,
  first: string,
  work: (row: Row) => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  let sum = 0;
  for (let after = first; ; ) {
    const { rows } = await pool.query<Row>(
      `SELECT ${selected} AND id > $1 ORDER BY id LIMIT ${ROWS_PER_PAGE}`,
      [after],
    );
    for (const row of rows) sum += await work(row);
    const last = rows.at(-1);
    if (last === undefined || signal?.aborted === true) return sum;
    after = last.id;
  }
}

export interface Note {
  readonly id: string;
}

export interface RemovedRows {
  readonly removed: number;
  /** Whether nothing is left, so that the note goes too. */
  readonly isLast: boolean;
}

/**
 * Removes what notes say, in several transactions where it is much. Any number of processes may do so concurrently. A note that
 * is made meanwhile is read after the others.
 *
 * @param remove removes some of what a note says, in a transaction that holds it; `turn` counts the transactions from 0
 */
export async function collectNotes<Row extends Note>(
  pool: pg.Pool,
  { table, columns }: { readonly table: 'loose_parts' | 'loose_runs'; readonly columns: string },
  remove: (client: pg.ClientBase, note: Row, turn: number) => Promise<RemovedRows>,
  signal?: AbortSignal,
): Promise<number> {
  const removeSome = async (client: pg.ClientBase, note: Row, turn: number): Promise<RemovedRows> => {
    // Another process that removes it holds the row.
    const held = await client.query(`SELECT FROM ${table} WHERE id = $1 FOR UPDATE SKIP LOCKED`, [note.id]);
    if (held.rowCount === 0) return { removed: 0, isLast: true };
    const done = await remove(client, note, turn);
    if (done.isLast) await client.query(`DELETE FROM ${table} WHERE id = $1`, [note.id]);
    return done;
  };
  const removeAll = async (note: Row): Promise<number> => {
    let removed = 0;
    for (let turn = 0; signal?.aborted !== true; turn += 1) {
      const done = await inTransaction(pool, (client) => removeSome(client, note, turn));
      removed += done.removed;
      if (done.isLast) break;
    }
    return removed;
  };
  return await sumOfRows<Row>(pool, `id, ${columns} FROM ${table} WHERE true`, '0', removeAll, signal);
}
