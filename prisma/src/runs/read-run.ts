import type { ReadQuery } from '@svc/postgres';
import type pg from 'pg';
import { isUuid } from '../database/values.ts';
import { RUN_COLUMNS, type Run, type RunRow, runNotFound, toRun } from './run-row.ts';

/**
 * Reads some columns of a run.
 *
 * @param lock `FOR UPDATE` holds its row until the end of the transaction
 * @throws StoreError `run_not_found`
 */
export async function readRunColumns<Row extends pg.QueryResultRow>(
  query: ReadQuery,
  id: string,
  columns: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Row> {
  const [row] = isUuid(id) ? await query<Row>(`SELECT ${columns} FROM runs WHERE id = $1 ${lock}`, [id]) : [];
  if (row === undefined) throw runNotFound(id);
  return row;
}

/** Reads a run. @throws StoreError as {@link readRunColumns} */
export async function readRun(query: ReadQuery, id: string, lock: 'FOR UPDATE' | '' = ''): Promise<Run> {
  return toRun(await readRunColumns<RunRow>(query, id, RUN_COLUMNS, lock));
}
