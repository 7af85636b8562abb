import type pg from 'pg';
import { collectNotes, type Note, type RemovedRows } from '../database/collect-notes.ts';

/** Rows that one transaction removes. */
const ROWS_PER_TURN = 10_000;

/** A row of `loose_runs`. */
interface LooseRun extends Note {
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

const DIFFERENCES = { run_differences: TABLES.run_differences } as const;

/**
 * Removes what deleted runs have left: results, selected items, and differences from other runs. See `collectNotes`.
 *
 * @returns how many rows it removed
 */
export async function collectRuns(pool: pg.Pool, signal?: AbortSignal): Promise<number> {
  const notes = { table: 'loose_runs', columns: 'run_id AS "runId", other_run_id AS "otherRunId"' } as const;
  return await collectNotes<LooseRun>(pool, notes, removeSome, signal);
}

/** Removes the next rows, at most {@link ROWS_PER_TURN}. */
async function removeSome(client: pg.ClientBase, { runId, otherRunId }: LooseRun): Promise<RemovedRows> {
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
    if (removed === ROWS_PER_TURN) return { removed, isLast: false };
  }
  return { removed, isLast: true };
}
