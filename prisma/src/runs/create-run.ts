import type { RunSelection } from '@svc/evaluation';
import { inTransaction } from '@svc/postgres';
import type pg from 'pg';
import { StoreError } from '../database/errors.ts';
import { Parameters } from '../database/page.ts';
import { isUuid, storableText } from '../database/values.ts';
import { datasetNotFound } from '../datasets/dataset-row.ts';
import {
  completeClaim,
  type IdempotencyClaim,
  type StoredResponse,
} from '../idempotency/idempotency-store.ts';
import { NOTIFY_WORKERS } from '../queue/task-queue.ts';
import { selectItems } from './plan/select-items.ts';
import { RUN_COLUMNS, type Run, type RunRow, toRun } from './run-row.ts';

export interface NewRun {
  /** UUID of the new run. */
  readonly id: string;
  readonly datasetId: string;
  readonly name: string | null;
  /** Configuration without secrets, JSON text. */
  readonly config: string;
  readonly repetitions: number;
  readonly requestId: string | null;
  /** Which items it runs; absent or null for all. */
  readonly selection?: RunSelection | null | undefined;
  /** The run whose outputs it scores again. */
  readonly sourceRunId?: string | null | undefined;
  /** What was promised before it started, JSON text. */
  readonly plan?: string | undefined;
  readonly warnings?: string | undefined;
}

/** The claim of an idempotent request, and the response to store with it. */
export interface IdempotentCreation {
  readonly claim: IdempotencyClaim;
  readonly response: (run: Run) => StoredResponse;
}

/** See `RunStore.create`. */
export async function createRun(
  pool: pg.Pool,
  run: NewRun,
  idempotent: IdempotentCreation | undefined,
): Promise<Run> {
  if (!isUuid(run.datasetId)) throw datasetNotFound(run.datasetId);
  return await inTransaction(pool, async (client) => {
    const { rows } = await client.query<RunRow>(
      `INSERT INTO runs (id, dataset_id, dataset_version_hash, name, config, repetitions, total, request_id, has_selection,
         source_run_id, plan, warnings, created_at)
       SELECT $1, id, version_hash, $3, $4, $5::int, least(item_count::bigint * $5::int, 2147483647), $6, $7, $8, $9, $10,
         clock_timestamp()
       FROM datasets WHERE id = $2 FOR KEY SHARE
       RETURNING ${RUN_COLUMNS}`,
      [
        run.id,
        run.datasetId,
        run.name === null ? null : storableText('name', run.name),
        run.config,
        run.repetitions,
        run.requestId === null ? null : storableText('request id', run.requestId),
        run.selection != null,
        run.sourceRunId ?? null,
        run.plan ?? null,
        run.warnings ?? null,
      ],
    );
    if (rows[0] === undefined) throw datasetNotFound(run.datasetId);
    const created = toRun((await setTotal(client, run)) ?? rows[0]);
    await client.query('UPDATE runs SET results_due = total WHERE id = $1', [run.id]);
    await client.query(NOTIFY_WORKERS, ['run']);
    if (idempotent !== undefined) {
      await completeClaim(client, idempotent.claim, idempotent.response(created));
    }
    return created;
  });
}

/** Stores the selection of a run, or counts the results of its source, and sets its total. */
async function setTotal(client: pg.ClientBase, run: NewRun): Promise<RunRow | undefined> {
  if (run.sourceRunId != null) {
    // The source must neither go nor get other results until the run has ended.
    const { rows } = await client.query<RunRow>(
      `UPDATE runs SET total = source.total FROM (
         SELECT ok + failed + unscored AS total FROM runs WHERE id = $2 AND finished_at IS NOT NULL FOR SHARE
       ) AS source WHERE id = $1 RETURNING ${RUN_COLUMNS.replace(/\btotal\b/, 'runs.total')}`,
      [run.id, run.sourceRunId],
    );
    if (rows[0] !== undefined) return rows[0];
    throw new StoreError('run_active', 'Cannot score the outputs of the run again: it has not ended.');
  }
  if (run.selection == null) return undefined;
  const { add, values } = new Parameters();
  add(run.datasetId);
  const selected = selectItems(run.selection, add);
  const chosen = await client.query(
    `INSERT INTO run_items (run_id, section_order_index, order_index)
     SELECT ${add(run.id)}::uuid, section, item FROM (${selected}) AS selected`,
    values,
  );
  const { rows } = await client.query<RunRow>(
    `UPDATE runs SET total = least($2::bigint * repetitions, 2147483647) WHERE id = $1 RETURNING ${RUN_COLUMNS}`,
    [run.id, chosen.rowCount ?? 0],
  );
  return rows[0];
}
