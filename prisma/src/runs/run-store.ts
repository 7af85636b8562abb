import type { RunEnd, RunItem, RunResult, RunResultStatus, RunSession } from '@svc/evaluation';
import { canonicalJson } from '@svc/jsonl-v23/json';
import type pg from 'pg';
import type { StoreContext } from '../context.ts';
import { StoreError } from '../database/errors.ts';
import { guarded } from '../database/guarded.ts';
import { boundedName, itemTooLarge } from '../database/item-size.ts';
import { decodeCursor, encodeCursor, type Page, type PageRequest } from '../database/page.ts';
import {
  type ItemCandidate,
  itemCandidates,
  MAX_PAGE_BYTES,
  planItems,
  readPlannedItems,
} from '../database/read-item-texts.ts';
import { createReadQuery } from '../database/read-query.ts';
import { inTransaction } from '../database/transaction.ts';
import { isUuid, storableText } from '../database/values.ts';
import { datasetNotFound } from '../datasets/dataset-row.ts';
import {
  completeClaim,
  type IdempotencyClaim,
  type StoredResponse,
} from '../idempotency/idempotency-store.ts';
import { NOTIFY_WORKERS, type TaskClaim } from '../queue/task-queue.ts';
import {
  insertResults,
  type ListedResult,
  planResults,
  positionOf,
  type ResultPosition,
  readPlannedResults,
} from './run-results.ts';
import { RUN_COLUMNS, type Run, type RunRow, type RunStatus, runNotFound, toRun } from './run-row.ts';

export interface NewRun {
  /** Uuid of the run to be. */
  readonly id: string;
  readonly datasetId: string;
  readonly name: string | null;
  /** Sanitised configuration, JSON text; whoever calls has taken the secrets out. */
  readonly config: string;
  readonly repetitions: number;
  readonly requestId: string | null;
}

export interface RunsRequest extends PageRequest {
  readonly datasetId?: string | undefined;
  readonly status?: RunStatus | undefined;
}

export interface ResultsRequest extends PageRequest {
  readonly status?: RunResultStatus | undefined;
}

/** A run in the hands of a worker. */
export interface TakenRun {
  /** As it was when it was taken; `status` is `cancelling` when a cancel came before. */
  readonly run: Run;
  /** What the flow reads and writes; refused with `superseded` once another worker has taken the run. */
  readonly session: RunSession;
}

/** A page of results, whose memory is accounted for until it is released. */
export interface ResultsPage extends Page<ListedResult> {
  /** Whether the page is large, so that it should be sent piece by piece. */
  readonly isLarge: boolean;
  /** To be called when the page was sent, or is not needed. */
  release(): void;
}

/** Runs and their results. Every method throws StoreError `unavailable` when the database cannot be reached. */
export interface RunStore {
  /**
   * Stores a run and puts its task on the queue, in one transaction.
   *
   * @throws StoreError `dataset_not_found`, `invalid_request`; `superseded` when the idempotency key was taken over
   */
  create(
    run: NewRun,
    options?: { readonly claim: IdempotencyClaim; readonly answer: (run: Run) => StoredResponse },
  ): Promise<Run>;
  /** @throws StoreError `run_not_found` */
  get(id: string): Promise<Run>;
  /** Those of these runs that are there, in any order: one query. */
  getMany(ids: readonly string[]): Promise<Run[]>;
  /** Runs, newest first. @throws StoreError `invalid_cursor` */
  list(request: RunsRequest): Promise<Page<Run>>;
  /**
   * Results in item order. A page ends early when its results are large; one that is larger than an item may be comes
   * without its texts.
   *
   * @throws StoreError `run_not_found`, `invalid_cursor`
   */
  listResults(id: string, request: ResultsRequest): Promise<ResultsPage>;
  /**
   * Opens a run that a worker has claimed. Null when there is nothing left to do: the run has ended, another worker has
   * claimed it, or its dataset was deleted.
   */
  take(claim: TaskClaim): Promise<TakenRun | null>;
  /**
   * Asks for a run to end. One that no worker has taken ends at once; a running one becomes `cancelling`, and its
   * worker is woken. Asking again changes nothing.
   *
   * @throws StoreError `run_not_found`; `run_finished` when it has ended otherwise
   */
  requestCancel(id: string): Promise<Run>;
  /**
   * Ends a run that cannot be done, such as after its last attempt: as cancelled where that was requested, else as failed.
   * Null when it has ended before.
   */
  fail(
    id: string,
    error: { readonly code: string; readonly message: string },
  ): Promise<'failed' | 'cancelled' | null>;
}

export function createRunStore({ pool, largePages, maxItemBytes }: StoreContext): RunStore {
  return guarded({
    async create(run, options) {
      if (!isUuid(run.datasetId)) throw datasetNotFound(run.datasetId);
      return await inTransaction(pool, async (client) => {
        const { rows } = await client.query<RunRow>(
          `INSERT INTO runs (id, dataset_id, dataset_version_hash, name, config, repetitions, total, request_id, created_at)
           SELECT $1, id, version_hash, $3, $4, $5, item_count * $5, $6, clock_timestamp()
           FROM datasets WHERE id = $2 FOR KEY SHARE
           RETURNING ${RUN_COLUMNS}`,
          [
            run.id,
            run.datasetId,
            run.name === null ? null : storableText('name', run.name),
            run.config,
            run.repetitions,
            run.requestId === null ? null : storableText('request id', run.requestId),
          ],
        );
        if (rows[0] === undefined) throw datasetNotFound(run.datasetId);
        const created = toRun(rows[0]);
        await client.query(NOTIFY_WORKERS, ['run']);
        if (options !== undefined) await completeClaim(client, options.claim, options.answer(created));
        return created;
      });
    },

    async get(id) {
      const { rows } = isUuid(id)
        ? await pool.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1`, [id])
        : { rows: [] };
      if (rows[0] === undefined) throw runNotFound(id);
      return toRun(rows[0]);
    },

    async getMany(ids) {
      const { rows } = await pool.query<RunRow>(
        `SELECT ${RUN_COLUMNS} FROM runs WHERE id = ANY($1::uuid[])`,
        [ids.filter(isUuid)],
      );
      return rows.map(toRun);
    },

    async list({ limit, cursor, datasetId, status, signal }) {
      if (datasetId !== undefined && !isUuid(datasetId)) return { data: [], nextCursor: null, totalItems: 0 };
      const values: unknown[] = [];
      const parameter = (value: unknown): string => `$${values.push(value)}`;
      const filters = ['true'];
      if (datasetId !== undefined) filters.push(`dataset_id = ${parameter(datasetId)}`);
      if (status !== undefined) filters.push(`status = ${parameter(status)}`);
      const query = createReadQuery(pool, signal);
      const counted = [...values];
      const where = filters.join(' AND ');
      if (cursor !== undefined) {
        const [createdAtMs, afterId] = decodeCursor('runs', ['time', 'uuid'], cursor);
        filters.push(
          `(created_at, id) < (to_timestamp(${parameter(createdAtMs)}::float8 / 1000)::timestamptz(3), ${parameter(afterId)}::uuid)`,
        );
      }
      const [total] = await query<{ count: string }>(`SELECT count(*) FROM runs WHERE ${where}`, counted);
      const rows = await query<RunRow & { readonly found: string }>(
        `SELECT ${RUN_COLUMNS}, found FROM (
           SELECT *, count(*) OVER () AS found, row_number() OVER newest AS position,
             sum(octet_length(config) + coalesce(octet_length(error), 0) + coalesce(octet_length(name), 0)) OVER newest AS bytes
           FROM (
             SELECT * FROM runs WHERE ${filters.join(' AND ')}
             ORDER BY created_at DESC, id DESC LIMIT ${parameter(limit + 1)}
           ) candidate WINDOW newest AS (ORDER BY created_at DESC, id DESC)
         ) runs WHERE bytes <= ${MAX_PAGE_BYTES} OR position = 1
         ORDER BY created_at DESC, id DESC`,
        values,
      );
      const shown = rows.slice(0, limit);
      const last = shown.at(-1);
      return {
        data: shown.map(toRun),
        nextCursor:
          last !== undefined && Number(last.found) > shown.length
            ? encodeCursor('runs', [last.createdAt.getTime(), last.id])
            : null,
        totalItems: Number(total?.count ?? 0),
      };
    },

    async listResults(id, { limit, cursor, status, signal }) {
      const after: ResultPosition =
        cursor === undefined ? [-1, -1, -1] : decodeCursor('results', ['index', 'index', 'index'], cursor);
      const query = createReadQuery(pool, signal);
      const [run] = isUuid(id)
        ? await query<Record<RunResultStatus, number>>(
            'SELECT ok, failed, unscored FROM runs WHERE id = $1',
            [id],
          )
        : [];
      if (run === undefined) throw runNotFound(id);
      const plan = await planResults(query, { runId: id, after, limit, status, maxBytes: maxItemBytes });
      const permits = plan.unreadBytes > 0 ? await largePages.acquire(signal, plan.unreadBytes) : undefined;
      const release = (): void => permits?.[Symbol.dispose]();
      try {
        const results = await readPlannedResults(query, id, plan);
        const last = results.at(-1);
        return {
          data: results,
          nextCursor: plan.hasMore && last !== undefined ? encodeCursor('results', positionOf(last)) : null,
          totalItems: status === undefined ? run.ok + run.failed + run.unscored : run[status],
          isLarge: plan.unreadBytes > 0,
          release,
        };
      } catch (error) {
        release();
        throw error;
      }
    },

    async take({ id, attempt }) {
      const { rows } = await pool.query<RunRow>(
        `SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1 AND attempt = $2 AND finished_at IS NULL`,
        [id, attempt],
      );
      const row = rows[0];
      if (row === undefined) return null;
      const run = toRun(row);
      return { run, session: createRunSession(pool, run, attempt, maxItemBytes) };
    },

    async requestCancel(id) {
      if (!isUuid(id)) throw runNotFound(id);
      return await inTransaction(pool, async (client) => {
        const { rows } = await client.query<RunRow>(
          `UPDATE runs SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
             status = CASE WHEN status = 'queued' THEN 'cancelled' ELSE 'cancelling' END,
             finished_at = CASE WHEN status = 'queued' THEN clock_timestamp() END
           WHERE id = $1 AND finished_at IS NULL RETURNING ${RUN_COLUMNS}`,
          [id],
        );
        if (rows[0] !== undefined) {
          await client.query(`SELECT pg_notify('svc_cancel', $1)`, [id]);
          return toRun(rows[0]);
        }
        const found = await client.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = $1`, [id]);
        if (found.rows[0] === undefined) throw runNotFound(id);
        const run = toRun(found.rows[0]);
        if (run.status !== 'cancelled') throw runFinished(run);
        return run;
      });
    },

    async fail(id, error) {
      const { rows } = await pool.query<{ status: 'failed' | 'cancelled' }>(
        `UPDATE runs SET status = CASE WHEN cancel_requested_at IS NULL THEN 'failed' ELSE 'cancelled' END,
           error = CASE WHEN cancel_requested_at IS NULL THEN $2 END, finished_at = clock_timestamp()
         WHERE id = $1 AND finished_at IS NULL RETURNING status`,
        [id, canonicalJson({ code: error.code, message: error.message })],
      );
      return rows[0]?.status ?? null;
    },
  } satisfies RunStore);
}

function runFinished(run: Run): StoreError {
  return new StoreError('run_finished', `The run has ended already: it is ${run.status}.`);
}

/** Items of one page, at most. */
const PAGE_ITEMS = 100;

function createRunSession(pool: pg.Pool, run: Run, attempt: number, maxItemBytes: number): RunSession {
  /** The run's row, held until the end of the transaction. */
  const hold = async (client: pg.ClientBase): Promise<void> => {
    const { rows } = await client.query<RunRow & { attempt: number }>(
      `SELECT ${RUN_COLUMNS}, attempt FROM runs WHERE id = $1 FOR UPDATE`,
      [run.id],
    );
    const row = rows[0];
    if (row === undefined) throw runNotFound(run.id);
    if (row.finishedAt !== null) throw runFinished(toRun(row));
    if (row.attempt !== attempt) throw new StoreError('superseded', 'Another worker has taken the run over.');
  };

  async function* items(signal: AbortSignal): AsyncGenerator<RunItem, void, undefined> {
    const query = createReadQuery(pool, signal);
    let after: readonly [number, number] = [-1, -1];
    for (;;) {
      signal.throwIfAborted();
      const candidates = await query<RunItemRow>(ITEMS_TO_DO, [
        run.datasetId,
        run.id,
        run.repetitions,
        ...after,
        PAGE_ITEMS,
      ]);
      const plan = await planItems(query, candidates, maxItemBytes);
      const last = plan.items.at(-1)?.item;
      if (last === undefined) return;
      for (const row of await readPlannedItems(query, plan)) {
        signal.throwIfAborted();
        const { section, sectionOrderIndex, orderIndex, payload, answer, checker, assets } = row;
        yield {
          section,
          sectionOrderIndex,
          orderIndex,
          doneRepetitions: row.doneRepetitions ?? [],
          parts: payload === null ? null : { payload, answer, checker, assets },
          failure:
            payload === null
              ? { code: 'item_too_large', message: itemTooLarge('Item', row, maxItemBytes).message }
              : undefined,
        };
      }
      after = [last.sectionOrderIndex, last.orderIndex];
    }
  }

  return {
    items,
    ...guarded({
      async saveResults(results: readonly RunResult[]): Promise<void> {
        if (results.length === 0) return;
        await inTransaction(pool, async (client) => {
          await hold(client);
          await insertResults(client, run.id, results);
        });
      },
      async finish(end: RunEnd): Promise<void> {
        const error = end.status === 'failed' ? canonicalJson({ ...end.error }) : null;
        await inTransaction(pool, async (client) => {
          await hold(client);
          await client.query(
            'UPDATE runs SET status = $2, error = $3, finished_at = clock_timestamp() WHERE id = $1',
            [run.id, end.status, error],
          );
        });
      },
    }),
  };
}

interface RunItemRow extends ItemCandidate {
  readonly sectionOrderIndex: number;
  readonly doneRepetitions: number[] | null;
}

/** $1 dataset, $2 run, $3 repetitions, $4 and $5 the place to go on behind, $6 how many: the next that lack a result. */
const ITEMS_TO_DO = `${itemCandidates(
  `SELECT s.id AS "sectionId", ${boundedName('s.name')} AS section, s.order_index AS "sectionOrderIndex",
     i.order_index AS "orderIndex", i.payload, i.answer, i.checker, i.assets, i."doneRepetitions"
   FROM sections s CROSS JOIN LATERAL (
     SELECT items.*, done."doneRepetitions" FROM items CROSS JOIN LATERAL (
       SELECT array_agg(r.repetition ORDER BY r.repetition) AS "doneRepetitions" FROM run_results r
       WHERE r.run_id = $2 AND r.section_order_index = s.order_index AND r.order_index = items.order_index
     ) done
     WHERE items.section_id = s.id
       AND items.order_index > CASE WHEN s.order_index = $4::int THEN $5::int ELSE -1 END
       AND coalesce(cardinality(done."doneRepetitions"), 0) < $3::int
     ORDER BY items.order_index LIMIT $6
   ) i
   WHERE s.dataset_id = $1 AND s.order_index >= $4::int
   ORDER BY s.order_index, i.order_index LIMIT $6`,
  '"doneRepetitions"',
)} ORDER BY "sectionOrderIndex", "orderIndex"`;
