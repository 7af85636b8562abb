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
