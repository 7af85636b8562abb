import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { isUuid } from '../../database/values.ts';
import { RUN_COLUMNS, type Run, type RunRow, runFinished, runNotFound, toRun } from '../run-row.ts';

/**
 * Reads a run whose results clients send.
 *
 * @param lock `FOR UPDATE` holds its row until the end of the transaction
 * @throws StoreError `run_not_found`, `run_not_external`
 */
export async function readExternal(
  client: pg.ClientBase | pg.Pool,
  id: string,
  lock: 'FOR UPDATE' | '' = '',
): Promise<Run> {
  const { rows } = isUuid(id)
    ? await client.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 ${lock}`, [id])
    : { rows: [] };
  if (rows[0] === undefined) throw runNotFound(id);
  const run = toRun(rows[0]);
  if (!run.isExternal) {
    throw new StoreError(
      'run_not_external',
      'The run takes no results from outside: its provider is not `external`.',
    );
  }
  return run;
}

/** Locks a run that waits for results. @throws StoreError as {@link readExternal}, and `run_finished` */
export async function lockWaiting(client: pg.ClientBase, id: string): Promise<Run> {
  const run = await readExternal(client, id, 'FOR UPDATE');
  if (run.finishedAt !== null) throw runFinished(run);
  if (run.addingScorers !== null) {
    throw new StoreError('run_finished', 'The run takes no results: it has ended, and gets further scorers.');
  }
  return run;
}
