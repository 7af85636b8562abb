import type pg from 'pg';
import { isUuid } from '../database/values.ts';
import type { ReadQuery } from '../postgres/read-query.ts';
import { RUN_COLUMNS, type Run, type RunRow, runNotFound, toRun } from './run-row.ts';

/**
 * Holds the row of a run until the end of the transaction. What writes results takes `FOR NO KEY UPDATE`, because a comparison
 * of the run, which refers to the row, may take long; what deletes or continues it takes `FOR UPDATE`.
 */
export type RunLock = 'FOR UPDATE' | 'FOR NO KEY UPDATE';

/**
 * Reads some columns of a run.
 *
 * @throws StoreError `run_not_found`
 */
export async function readRunColumns<Row extends pg.QueryResultRow>(
  query: ReadQuery,
  id: string,
  columns: string,
  lock: RunLock | '' = '',
): Promise<Row> {
  const [row] = isUuid(id) ? await query<Row>(`SELECT ${columns} FROM runs WHERE id = $1 ${lock}`, [id]) : [];
  if (row === undefined) throw runNotFound(id);
  return row;
}

/** Reads a run. @throws StoreError as {@link readRunColumns} */
export async function readRun(query: ReadQuery, id: string, lock: RunLock | '' = ''): Promise<Run> {
  return toRun(await readRunColumns<RunRow>(query, id, RUN_COLUMNS, lock));
}

/** Results whose requests have cost something, the model's or a judge's. */
export interface PaidResults {
  readonly asked: number;
  /** What they have cost together. */
  readonly askedCost: number;
}

/** See `RunStore.readPaid`. */
export async function readPaid(pool: pg.Pool, id: string): Promise<PaidResults> {
  const { rows } = await pool.query<PaidResults>(
    `SELECT count(*)::float8 AS asked, coalesce(sum(cost), 0) AS "askedCost" FROM run_results
     WHERE run_id = $1 AND cost > 0`,
    [id],
  );
  return rows[0] ?? { asked: 0, askedCost: 0 };
}
