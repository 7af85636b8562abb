import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { type Actor, readAsked, seesDataset, seesJob } from '../audit/actor.ts';
import {
  type ListOrder,
  type Page,
  type PageRequest,
  Parameters,
  readOrderedPage,
} from '../database/page.ts';
import { searchableText } from '../database/values.ts';
import { createPool, type Pool } from '../postgres/pool.ts';
import { createReadQuery } from '../postgres/read-query.ts';

export type TaskKind = 'run' | 'import' | 'upload';
/** The tables whose rows are tasks: a row of `runs` is a `run`, one of `jobs` an `import` or an `upload`. */
export type TaskTable = 'runs' | 'jobs';

/** Which worker holds a run or job: the attempt tells it from workers that held it before. */
export interface TaskClaim {
  readonly id: string;
  readonly attempt: number;
}

/** A task that this process now holds. */
export interface ClaimedTask {
  readonly kind: TaskKind;
  readonly claim: TaskClaim;
  /** Attempts that counted: they failed, or their worker died. */
  readonly failedAttempts: number;
  /** Whether the worker that held the task before let its lease expire. */
  readonly isRecovered: boolean;
  /** Since the task was created. */
  readonly ageMs: number;
  readonly actor: Actor;
}

export const MAX_ATTEMPTS = 3;
/** Other workers claim a task this long after the last heartbeat of its worker. */
export const LEASE_MS = 12_000;

const CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 10_000;

/** Notifies the workers at the end of the transaction; `$1` is the kind of the new task. */
export const NOTIFY_WORKERS = `SELECT pg_notify('svc_task', $1)`;

const LEASE_END = `clock_timestamp() + interval '${LEASE_MS} milliseconds'`;

/** The index `…_to_do` finds the rows. */
const claimDue = (table: TaskTable): string => `
  WITH due AS (
    SELECT id, lease_expires_at IS NOT NULL AS expired FROM ${table}
    WHERE finished_at IS NULL AND available_at <= clock_timestamp()
      AND (lease_expires_at IS NULL OR $2 AND lease_expires_at < clock_timestamp())
    ORDER BY available_at LIMIT $1 FOR UPDATE SKIP LOCKED
  )
  UPDATE ${table} SET attempt = attempt + 1, failed_attempts = failed_attempts + expired::int,
    lease_expires_at = ${LEASE_END}, worker = $3, started_at = coalesce(started_at, clock_timestamp()),
    status = CASE WHEN cancel_requested_at IS NULL THEN 'running' ELSE 'cancelling' END
  FROM due WHERE ${table}.id = due.id
  RETURNING ${table}.id, attempt, failed_attempts AS "failedAttempts", expired AS "isRecovered",
    ${table === 'runs' ? `'run'` : 'kind'} AS kind, left(asked, 65536) AS asked,
    extract(epoch FROM clock_timestamp() - created_at)::float8 * 1000 AS "ageMs"`;

const extendHeld = (table: TaskTable): string => `
  WITH held AS (SELECT * FROM unnest($1::uuid[], $2::int[]) AS held (id, attempt)),
  extended AS (
    UPDATE ${table} SET lease_expires_at = ${LEASE_END} FROM held
    WHERE ${table}.id = held.id AND ${table}.attempt = held.attempt AND finished_at IS NULL
  )
  SELECT held.id FROM held JOIN ${table} USING (id) WHERE ${table}.attempt <> held.attempt`;

const HELD = 'id = $1 AND attempt = $2 AND finished_at IS NULL';

const releaseHeld = (table: TaskTable): string => `
  WITH released AS (UPDATE ${table} SET lease_expires_at = NULL WHERE ${HELD} RETURNING id)
  SELECT pg_notify('svc_task', $3) FROM released`;

/** Due again after 2 to 4 seconds, then 4 to 8. After the last attempt the lease stays: its worker ends the task. */
const retryHeld = (table: TaskTable): string => `
  UPDATE ${table} SET failed_attempts = failed_attempts + 1,
    available_at = clock_timestamp() + interval '1 second' * 2 ^ (failed_attempts + 1) * (1 + random()),
    lease_expires_at = CASE WHEN failed_attempts + 1 < ${MAX_ATTEMPTS} THEN NULL ELSE lease_expires_at END
  WHERE ${HELD}`;

/** The queue as workers see it. Every method throws what the database driver throws. */
export type TaskQueue = ReturnType<typeof openTaskQueue>;

/** Opens the queue on separate connections, so that heartbeats do not wait for the process's other queries. */
export function openTaskQueue(url: string) {
  const pool = createPool({
    url,
    applicationName: 'svc-queue',
    size: CONNECTIONS,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  const worker = randomUUID();
  let closing: Promise<void> | undefined;
  return {
    /** Claims due tasks, the longest waiting first; with `recover` also those whose lease has expired. */
    async claim(table: TaskTable, limit: number, recover: boolean): Promise<ClaimedTask[]> {
      const { rows } = await pool.query<
        Omit<ClaimedTask, 'claim' | 'actor'> & TaskClaim & { readonly asked: string | null }
      >(claimDue(table), [limit, recover, worker]);
      return rows.map(({ id, attempt, asked, ...task }) => {
        return { claim: { id, attempt }, actor: readAsked(asked), ...task };
      });
    },
    /** Extends the leases of held tasks. @returns ids of the tasks that another worker has claimed */
    async extend(table: TaskTable, claims: readonly TaskClaim[]): Promise<string[]> {
      const { rows } = await pool.query<{ id: string }>(extendHeld(table), [
        claims.map(({ id }) => id),
        claims.map(({ attempt }) => attempt),
      ]);
      return rows.map(({ id }) => id);
    },
    /** Gives a task back without counting an attempt, and wakes the workers. */
    async release({ kind, claim }: ClaimedTask): Promise<void> {
      await pool.query(releaseHeld(tableOf(kind)), [claim.id, claim.attempt, kind]);
    },
    /** Counts a failed attempt. Unless it was the last one, the task is due again after some seconds. */
    async retry({ kind, claim }: ClaimedTask): Promise<void> {
      await pool.query(retryHeld(tableOf(kind)), [claim.id, claim.attempt]);
    },
    /** Safe to call twice. */
    close(): Promise<void> {
      closing ??= pool.end();
      return closing;
    },
  };
}

function tableOf(kind: TaskKind): TaskTable {
  return kind === 'run' ? 'runs' : 'jobs';
}

/** Whether no worker works on a run or job: none has claimed it, or clients do its work. */
const IS_IDLE = `status = 'queued' OR available_at = 'infinity'`;

/** Cancels a task, or asks its worker to; `isFirst` if nobody had before. Undefined when it has ended or is unknown. */
export async function cancelTask<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  table: TaskTable,
  columns: string,
  id: string,
): Promise<{ readonly row: Row; readonly isFirst: boolean } | undefined> {
  // Nothing else sets it: the row is locked by then.
  const before = await client.query<{ isFirst: boolean }>(
    `SELECT cancel_requested_at IS NULL AS "isFirst" FROM ${table} WHERE id = $1 FOR NO KEY UPDATE`,
    [id],
  );
  const { rows } = await client.query<Row>(
    `UPDATE ${table} SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
       status = CASE WHEN ${IS_IDLE} THEN 'cancelled' ELSE 'cancelling' END,
       finished_at = CASE WHEN ${IS_IDLE} THEN clock_timestamp() END
       ${table === 'jobs' ? `, sealed_token = CASE WHEN NOT (${IS_IDLE}) THEN sealed_token END` : ''}
     WHERE id = $1 AND finished_at IS NULL RETURNING ${columns}`,
    [id],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  await client.query(`SELECT pg_notify('svc_cancel', $1)`, [id]);
  return { row, isFirst: before.rows[0]?.isFirst === true };
}

/** Ends a run or job that cannot be done: as cancelled where that was requested, else as failed. */
export async function failTask(client: pg.ClientBase | pg.Pool, table: TaskTable, id: string, error: string) {
  const { rows } = await client.query<{ status: 'failed' | 'cancelled' }>(
    `UPDATE ${table} SET status = CASE WHEN cancel_requested_at IS NULL THEN 'failed' ELSE 'cancelled' END,
       error = CASE WHEN cancel_requested_at IS NULL THEN $2 END, finished_at = clock_timestamp()
       ${table === 'jobs' ? ', sealed_token = NULL' : ''}
     WHERE id = $1 AND finished_at IS NULL RETURNING status`,
    [id, error],
  );
  return rows[0]?.status ?? null;
}

interface TasksRequest extends PageRequest {
  readonly table: TaskTable;
  readonly columns: string;
  /** Columns and the values that they must have; undefined for any. */
  readonly equal: Readonly<Record<string, string | undefined>>;
  /** Further conditions, by the placeholders of their values; an undefined value is not a condition. */
  readonly conditions?: readonly (readonly [
    value: string | undefined,
    sql: (placeholder: string) => string,
  ])[];
  /** By default the newest first. */
  readonly order?: ListOrder | undefined;
  /** Columns with texts, whose size bounds a page. */
  readonly texts: readonly string[];
}

/** A page of runs or jobs, newest first or in another order: by time by an index, perhaps one that begins with a condition. */
export async function listTasks<Row extends object>(
  pool: Pool,
  { table, columns, equal, conditions = [], order, texts, ...page }: TasksRequest,
): Promise<Page<Row>> {
  const parameters = new Parameters();
  const sees = table === 'jobs' ? seesJob() : seesDataset('dataset_id');
  const filters = sees === null ? [] : [sees];
  for (const [column, value] of Object.entries(equal)) {
    if (value !== undefined) filters.push(`${column} = ${parameters.add(value)}`);
  }
  for (const [value, sql] of conditions) {
    if (value !== undefined) filters.push(sql(parameters.add(searchableText(value))));
  }
  const bytes = texts.map((text) => `coalesce(octet_length(${text}), 0)`).join(' + ');
  const list = { from: table, name: table, columns, filters, order, bytes };
  return await readOrderedPage<Row>(createReadQuery(pool, page.signal), list, parameters, page);
}
