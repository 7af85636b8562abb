import type { RunColumns } from '@svc/jsonl-v23/runs';
import type pg from 'pg';
import type { RunSelection } from '../../evaluation/index.ts';
import { askedText, writeAudit } from '../audit/actor.ts';
import type { StoreContext } from '../context.ts';
import { datasetNotFound } from '../database/dataset-row.ts';
import { StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { runNotFound } from '../database/values.ts';
import { completeFor, type Idempotent } from '../idempotency/idempotency-store.ts';
import { versionNumber } from '../items/item-ranges.ts';
import { inTransaction } from '../postgres/pool.ts';
import { queryOf } from '../postgres/read-query.ts';
import { NOTIFY_WORKERS } from '../queue/task-queue.ts';
import { selectItems } from './plan/plan-items.ts';
import { insertedColumns, RUN_COLUMNS, type Run } from './run-row.ts';

/** The largest number of an `integer` column. */
export const MAX_INTEGER = 2_147_483_647;

export interface NewRun
  extends Omit<RunColumns, 'datasetVersion' | 'datasetVersionHash' | 'total' | 'createdAt' | 'hasSelection'> {
  /** UUID of the new run. */
  readonly id: string;
  readonly datasetId: string;
  /** Number of the version of the dataset; by default the newest. */
  readonly version?: number | undefined;
  readonly config: string;
  readonly repetitions: number;
  /** Which items it runs; absent or null for all. */
  readonly selection?: RunSelection | null | undefined;
}

/**
 * Stores a run and puts its task on the queue, in one transaction.
 *
 * @throws StoreError `dataset_not_found`, `run_not_found`, `invalid_request`; `superseded` when the idempotency key was taken over
 */
export async function createRun({ pool }: StoreContext, run: NewRun, idempotent?: Idempotent<Run>) {
  const { selection, version = null, ...stated } = run;
  const { names, parameters, values } = insertedColumns({ ...stated, hasSelection: selection != null });
  return await inTransaction(pool, async (client) => {
    const inserted = await client.query<{ readonly version: number }>(
      `INSERT INTO runs (${names}, dataset_version, dataset_version_hash, total, created_at)
       SELECT ${parameters}, v.version, v.version_hash, least(v.item_count::bigint * $${values.length + 2}::int, ${MAX_INTEGER}),
         clock_timestamp()
       FROM datasets d JOIN versions v ON v.dataset_id = d.id WHERE d.id = $${values.length + 1}
         AND v.version = ${versionNumber(`$${values.length + 1}`, `$${values.length + 3}`)} FOR KEY SHARE
       RETURNING dataset_version AS version`,
      [...values, run.datasetId, run.repetitions, version],
    );
    const [created] = inserted.rows;
    if (created === undefined) throw datasetNotFound(run.datasetId);
    if (run.reusedRunId != null) await holdReused(client, run.reusedRunId);
    const total =
      run.sourceRunId == null
        ? await selectRunItems(client, run, created.version)
        : await countSource(client, run);
    const { rows } = await client.query<Run>(
      `UPDATE runs SET asked = $3, total = coalesce($2, total), results_due = coalesce($2, total),
         status = CASE WHEN is_external THEN 'waiting' ELSE status END,
         available_at = CASE WHEN is_external THEN 'infinity' ELSE available_at END WHERE id = $1
       RETURNING ${RUN_COLUMNS}`,
      [run.id, total, askedText('runs')],
    );
    const stored = rows[0] as Run;
    if (run.isTrial !== true) {
      const source = run.sourceRunId == null ? {} : { scores_outputs_of: run.sourceRunId };
      await writeAudit(
        client,
        'run.create',
        { kind: 'run', id: run.id },
        { results: stored.counts.total, ...source },
      );
    }
    await client.query(NOTIFY_WORKERS, ['run']);
    await completeFor(client, idempotent, stored);
    return stored;
  });
}

/** Counts the results of the source of a run, which must neither go nor get other results until the run has ended. */
async function countSource(client: pg.ClientBase, { sourceRunId }: NewRun): Promise<number> {
  const total = await countEnded(client, String(sourceRunId));
  if (total !== null) return total;
  throw new StoreError('run_active', 'Cannot score the outputs of the run again: it has not ended.');
}

/** Counts the results of a run that others read, and holds it; null unless it has ended. */
export async function countEnded(client: pg.ClientBase, runId: string): Promise<number | null> {
  const { rows } = await client.query<{ readonly total: number }>(
    'SELECT ok + failed + unscored AS total FROM runs WHERE id = $1 AND finished_at IS NOT NULL FOR SHARE',
    [runId],
  );
  return rows[0]?.total ?? null;
}

/** Holds the run whose outputs a run takes: what is deleted meanwhile would be paid for again. */
async function holdReused(client: pg.ClientBase, runId: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM runs WHERE id = $1 FOR KEY SHARE', [runId]);
  if (rowCount === 0) throw runNotFound(runId);
}

/** Stores the selection of a run. @returns its results; null if it has all items */
async function selectRunItems(client: pg.ClientBase, run: NewRun, version: number): Promise<number | null> {
  if (run.selection == null) return null;
  const parameters = new Parameters();
  const { datasetId } = run;
  const sql = await selectItems(queryOf(client), { datasetId, version }, run.selection, parameters);
  const { rowCount } = await client.query(
    `INSERT INTO run_items (run_id, section_order_index, order_index)
     SELECT ${parameters.add(run.id)}::uuid, section, item FROM (${sql}) AS selected`,
    parameters.values,
  );
  return Math.min((rowCount ?? 0) * run.repetitions, MAX_INTEGER);
}
