import { inTransaction } from '@svc/postgres';
import type pg from 'pg';

/** Rows that one transaction removes. */
const ROWS_PER_TURN = 10_000;
/** Notes that one query reads. */
const NOTES_PER_PAGE = 1_000;

/** A row of `loose_runs`. */
interface Note {
  readonly id: string;
  readonly runId: string;
  /** Only the differences from this run are to be removed; null for everything. */
  readonly otherRunId: string | null;
}

/** A table, and the columns of its primary key after `run_id`. */
const TABLES = {
  run_results: 'section_order_index, order_index, repetition',
  run_items: 'section_order_index, order_index',
  run_differences: 'other_run_id, pair_by, section_order_index, order_index',
} as const;

/**
 * Removes what deleted runs have left: results, selected items, and differences from other runs. Any number of processes
 * may do so concurrently.
 *
 * @param signal ends it early, between two transactions; what is left is removed the next time
 * @returns how many rows it removed
 */
export async function collectRuns(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (let after = '0'; ; ) {
    const { rows } = await pool.query<Note>(
      `SELECT id, run_id AS "runId", other_run_id AS "otherRunId" FROM loose_runs WHERE id > $1 ORDER BY id LIMIT ${NOTES_PER_PAGE}`,
      [after],
    );
    for (const note of rows) removed += await removeRows(pool, note, signal);
    const last = rows.at(-1);
    if (last === undefined || signal?.aborted === true) return removed;
    after = last.id;
  }
}

/** Removes the rows of one note, in several transactions when they are many. @returns how many */
async function removeRows(pool: pg.Pool, note: Note, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  while (signal?.aborted !== true) {
    const turn = await inTransaction(pool, (client) => removeSome(client, note));
    removed += turn;
    if (turn < ROWS_PER_TURN) break;
  }
  return removed;
}

/** Removes the next rows, and the note with the last ones. @returns how many, at most {@link ROWS_PER_TURN} */
async function removeSome(client: pg.ClientBase, { id, runId, otherRunId }: Note): Promise<number> {
  // Another process that removes them holds the row.
  const { rowCount } = await client.query('SELECT FROM loose_runs WHERE id = $1 FOR UPDATE SKIP LOCKED', [
    id,
  ]);
  if (rowCount === 0) return 0;
  let removed = 0;
  for (const [table, key] of Object.entries(otherRunId === null ? TABLES : DIFFERENCES)) {
    const of = otherRunId === null ? 'run_id = $1' : 'run_id = $1 AND other_run_id = $2';
    const values = otherRunId === null ? [runId] : [runId, otherRunId];
    const room = ROWS_PER_TURN - removed;
    const deleted = await client.query(
      `DELETE FROM ${table} WHERE ${of} AND (${key}) IN (SELECT ${key} FROM ${table} WHERE ${of} ORDER BY ${key} LIMIT ${room})`,
      values,
    );
    removed += deleted.rowCount ?? 0;
    if (removed === ROWS_PER_TURN) return removed;
  }
  await client.query('DELETE FROM loose_runs WHERE id = $1', [id]);
  return removed;
}

const DIFFERENCES = { run_differences: TABLES.run_differences } as const;
