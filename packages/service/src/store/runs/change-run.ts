import { canonicalJson } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import { RunError } from '../../evaluation/index.ts';
import { askedText, auditEnd, changeTexts, writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { collectNotes, type Note, type RemovedRows } from '../database/collect-notes.ts';
import { StoreError } from '../database/errors.ts';
import { runNotFound } from '../database/values.ts';
import { completeFor, type Idempotent } from '../idempotency/idempotency-store.ts';
import { inTransaction } from '../postgres/pool.ts';
import { queryOf } from '../postgres/read-query.ts';
import { cancelTask, failTask, NOTIFY_WORKERS } from '../queue/task-queue.ts';
import { areOutputsTaken } from '../versions/delete-version.ts';
import { addingScorersOf, countLacking, queueScorers, toAdding } from './adding-scorers.ts';
import { countEnded } from './create-run.ts';
import { deleteClaims } from './external/pending.ts';
import { concludeRun } from './prove-run.ts';
import { RUN_COLUMNS, type Run, readRun, runFinished } from './run-row.ts';
import { addScorers } from './write/insert-results.ts';

/** Which results a run does again. */
export type RetryOnly = 'failed' | 'unscored' | 'truncated' | 'missing';

export interface RunChange {
  readonly name?: string | null | undefined;
  readonly labels?: readonly string[] | undefined;
  readonly note?: string | null | undefined;
}

/** Changes name, labels and note. @throws StoreError `run_not_found`, `invalid_request` */
export async function updateRun({ pool }: StoreContext, id: string, { name, labels, note }: RunChange) {
  const texts = { name, note, labels: labels && canonicalJson([...new Set(labels)]) };
  const actions = { 'run.update': ['name', 'labels', 'note'] };
  return await inTransaction(pool, async (client) => {
    if (!(await changeTexts(client, { kind: 'run', id }, texts, actions))) throw runNotFound(id);
    return await readRun(queryOf(client), id);
  });
}

/** Deletes a run with its results. @throws StoreError `run_not_found`; `run_active` while it or a run that scores its outputs works */
export async function deleteRun({ pool }: StoreContext, id: string): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockFinished(client, id, 'delete');
    if (await areOutputsTaken(client, [id])) {
      throw new StoreError('run_active', 'Cannot delete the run: another run takes its outputs.');
    }
    await writeAudit(client, 'run.delete', { kind: 'run', id });
    await client.query('DELETE FROM runs WHERE id = $1', [id]);
  });
}

/** Deletes a run that was created with `isTrial`, whatever it does. */
export async function deleteTrial({ pool }: StoreContext, id: string): Promise<void> {
  await pool.query('DELETE FROM runs WHERE id = $1 AND is_trial', [id]);
}

/** Longer than any caller waits for one. */
const TRIAL_LIFETIME = '10 minutes';

/** Deletes the trials that their processes did not delete. */
export async function deleteTrials({ pool }: StoreContext): Promise<void> {
  await pool.query(
    `DELETE FROM runs WHERE is_trial AND created_at < clock_timestamp() - interval '${TRIAL_LIFETIME}'`,
  );
}

/**
 * Continues a run that has ended: with the results of one kind, which are replaced as the new ones are written, and
 * with those that are missing.
 *
 * @param config JSON text that replaces its configuration; null to keep it
 * @throws StoreError `run_not_found`; `run_active` while it works; `run_imported`; `nothing_to_retry`
 */
export async function retryRun(
  { pool }: StoreContext,
  id: string,
  only: RetryOnly,
  config: string | null = null,
): Promise<Run> {
  return await inTransaction(pool, async (client) => {
    const run = await lockFinished(client, id, 'retry');
    if (run.imported) {
      throw new StoreError('run_imported', 'Cannot retry the run: it came with a package.');
    }
    const adding = only === 'missing' ? addingScorersOf(run) : null;
    if (adding !== null && (run.isExternal || run.counts.total === run.counts.done)) {
      const due = await countLacking(client, id, adding);
      const again = { names: adding.names, due, status: run.status, ...(config !== null && { config }) };
      if (due > 0) {
        await writeAudit(client, 'run.retry', { kind: 'run', id }, { only, results: due });
        return await queueScorers(client, run, again);
      }
    }
    const total =
      run.sourceRunId === null ? run.counts.total : await countSourceAgain(client, run.sourceRunId);
    // The counts of the run say whether any result is to be done, without reading one.
    const due = (only === 'missing' ? 0 : run.counts[only]) + total - run.counts.done;
    if (due === 0) {
      throw new StoreError('nothing_to_retry', `Cannot retry the run: it has no ${only} results.`);
    }
    const { rows } = await client.query<Run>(
      `UPDATE runs SET asked = $6, retries = retries + 1, results_due = results_version + $3, retry_only = $2, total = $5, adding = NULL, proof_of = NULL, config = coalesce($4, config), error = NULL, finished_at = NULL,
         cancel_requested_at = NULL, lease_expires_at = NULL, failed_attempts = 0, claimed_section = 0, claimed_index = 0,
         status = CASE WHEN is_external THEN 'waiting' ELSE 'queued' END,
         available_at = CASE WHEN is_external THEN 'infinity' ELSE clock_timestamp() END
       WHERE id = $1 RETURNING ${RUN_COLUMNS}`,
      [id, only, due, config, total, askedText('runs')],
    );
    await writeAudit(client, 'run.retry', { kind: 'run', id }, { only, results: due });
    await client.query(NOTIFY_WORKERS, ['run']);
    return rows[0] as Run;
  });
}

/** Counts the results that a run is to score again: a source that was continued since has more than at first. */
async function countSourceAgain(client: pg.ClientBase, sourceRunId: string): Promise<number> {
  const total = await countEnded(client, sourceRunId);
  if (total !== null) return total;
  const source = `run ${sourceRunId}, whose outputs it scores,`;
  const { rowCount } = await client.query('SELECT FROM runs WHERE id = $1', [sourceRunId]);
  if (rowCount === 0)
    throw new StoreError('nothing_to_retry', `Cannot retry the run: ${source} was deleted.`);
  throw new StoreError('run_active', `Cannot retry the run: ${source} has not ended.`);
}

/** Scorers that a run is given after its end. */
export interface ScorerAddition {
  /** The new configuration, JSON text. */
  readonly config: string;
  readonly names: readonly string[];
  /** The configuration that the run must have still. */
  readonly before: string;
}

/**
 * Lets a run that has ended score its outputs by further scorers, after which it has its status again. The same addition
 * continues one that did not complete.
 *
 * @throws StoreError `run_not_found`; `run_active` while it works; `run_imported`; `scorer_exists`; `too_many_scorers`;
 * RunError `nothing_to_score`
 */
export async function addScorersToRun(
  { pool }: StoreContext,
  id: string,
  { config, names, before }: ScorerAddition,
  idempotent?: Idempotent<Run>,
): Promise<Run> {
  return await inTransaction(pool, async (client) => {
    const run = await lockFinished(client, id, 'add scorers to');
    if (run.imported) {
      throw new StoreError('run_imported', 'Cannot add scorers to the run: it came with a package.');
    }
    if (run.config !== before) {
      throw new StoreError(
        'run_active',
        'Cannot add scorers to the run: its configuration has just changed.',
      );
    }
    const known = JSON.parse(run.scorerNames ?? '[]') as string[];
    const old = names.filter((name) => known.includes(name));
    const due = await countLacking(client, id, toAdding(config, names));
    // The same configuration again continues what was interrupted.
    if (old.length > 0 && (due === 0 || config !== before)) {
      throw new StoreError('scorer_exists', `The run has a scorer ${old[0]}: use another name.`);
    }
    if (due === 0)
      throw new RunError('nothing_to_score', 'Cannot add scorers to the run: it has no outputs.');
    await addScorers(client, id, [Object.fromEntries(names.map((name) => [name, NO_SCORE]))]);
    await writeAudit(client, 'run.rescore', { kind: 'run', id }, { scorers: [...names], results: due });
    const stored = await queueScorers(client, run, { config, names, due, status: run.status });
    await completeFor(client, idempotent, stored);
    return stored;
  });
}

const NO_SCORE = { score: null, passed: null } as const;

/** Locks a run that has ended, and that no other run reads. @throws StoreError `run_not_found`, `run_active` */
async function lockFinished(client: pg.ClientBase, id: string, verb: string): Promise<Run> {
  const run = await readRun(queryOf(client), id, 'FOR UPDATE');
  if (run.finishedAt === null) {
    throw new StoreError('run_active', `Cannot ${verb} the run: it is ${run.status}.`);
  }
  const { rows: readers } = await client.query(
    'SELECT 1 FROM runs WHERE source_run_id = $1 AND finished_at IS NULL LIMIT 1',
    [id],
  );
  if (readers.length > 0) {
    throw new StoreError('run_active', `Cannot ${verb} the run: another run scores its outputs again.`);
  }
  return run;
}

/**
 * Requests the end of a run. One that no worker has claimed ends immediately; a running one becomes `cancelling`, and its
 * worker is notified. A second request changes nothing.
 *
 * @throws StoreError `run_not_found`; `run_finished` when it has ended otherwise
 */
export async function cancelRun(context: StoreContext, id: string): Promise<Run> {
  const { pool } = context;
  const cancelled = await inTransaction(pool, async (client) => {
    const changed = await cancelTask<Run>(client, 'runs', RUN_COLUMNS, id);
    const run = changed === undefined ? await readRun(queryOf(client), id) : changed.row;
    if (changed?.isFirst === true) await writeAudit(client, 'run.cancel', { kind: 'run', id });
    if (changed === undefined && run.status !== 'cancelled') throw runFinished(run);
    if (run.isExternal) await deleteClaims(client, id);
    return run;
  });
  if (cancelled.finishedAt === null) return cancelled;
  await concludeRun(context, id);
  return await readRun(queryOf(pool), id);
}

/** Ends a run that cannot be done: cancelled where that was requested, else failed. Null when it has ended before. */
export async function failRun(
  context: StoreContext,
  id: string,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<'failed' | 'cancelled' | null> {
  const status = await inTransaction(context.pool, async (client) => {
    const failed = await failTask(client, 'runs', id, canonicalJson({ code, message }));
    if (failed !== null) await auditEnd(client, id);
    return failed;
  });
  if (status !== null) await concludeRun(context, id);
  return status;
}

/** Rows that one transaction removes. */
const ROWS_PER_TURN = 10_000;

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

/** Removes what deleted runs have left, which nothing shows. See `collectNotes`. */
export async function collectRuns({ pool }: StoreContext, signal?: AbortSignal): Promise<number> {
  const notes = { table: 'loose_runs', columns: 'run_id AS "runId", other_run_id AS "otherRunId"' } as const;
  return await collectNotes<LooseRun>(pool, notes, removeSome, signal);
}

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
