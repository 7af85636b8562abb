import type pg from 'pg';
import { StoreError } from '../../database/errors.ts';
import { queryOf } from '../../postgres/read-query.ts';
import { type Run, type RunLock, readRun, runFinished } from '../run-row.ts';

/**
 * Reads a run whose results clients send.
 *
 * @throws StoreError `run_not_found`, `run_not_external`
 */
export async function readExternal(
  client: pg.ClientBase | pg.Pool,
  id: string,
  lock: RunLock | '' = '',
): Promise<Run> {
  const run = await readRun(queryOf(client), id, lock);
  if (!run.isExternal) {
    throw new StoreError(
      'run_not_external',
      'The run takes no results from outside: its provider is not `external`.',
    );
  }
  return run;
}

/** Locks a run that waits for results. @throws StoreError as {@link readWaiting} */
export async function lockWaiting(client: pg.ClientBase, id: string): Promise<Run> {
  return await readWaiting(client, id, 'FOR NO KEY UPDATE');
}

/** Reads a run that waits for results. @throws StoreError as {@link readExternal}, and `run_finished` */
export async function readWaiting(
  client: pg.ClientBase | pg.Pool,
  id: string,
  lock: RunLock | '' = '',
): Promise<Run> {
  const run = await readExternal(client, id, lock);
  if (run.finishedAt !== null) throw runFinished(run);
  if (run.addingScorers !== null) {
    throw new StoreError('run_finished', 'The run takes no results: it has ended, and gets further scorers.');
  }
  return run;
}
