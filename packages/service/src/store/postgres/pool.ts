import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { Client, type ConnectionOptions, connectionConfig, createClient, isThroughPooler } from './client.ts';
import { isUnavailable } from './driver-errors.ts';
import { containParserErrors, destroySocket, internalsOf, socketOf } from './pg-internals.ts';

/** How long a query may go without a byte before the server is asked whether it still works on it. */
const SILENCE_MS = 30_000;

export type Pool = pg.Pool & { readonly limit: StatementLimit };

/** A pool that outlives its connections: one that breaks while idle is dropped, one that falls silent is closed. */
export function createPool(
  options: ConnectionOptions & {
    readonly size: number;
    readonly silenceMs?: number;
    /** whether connections stay open while nothing uses them; else they close after 10 s */
    readonly keepIdle?: boolean;
    /** how long a statement may take; without, as long as it likes. Transactions that write have no such limit */
    readonly statementTimeoutMs?: number | undefined;
    /** called with the SQLSTATE of each error that the server sends, whoever handles it */
    readonly onServerError?: ((code: string | undefined) => void) | undefined;
  },
): Pool {
  const { statementTimeoutMs, keepIdle = false, onServerError } = options;
  const config = {
    ...connectionConfig(options),
    Client,
    max: options.size,
    ...(keepIdle ? { idleTimeoutMillis: 0 } : {}),
  };
  const limit = new StatementLimit(statementTimeoutMs ?? null);
  const pool = new pg.Pool({ ...config, onConnect: (client) => limit.prepare(client) });
  pool.on('error', () => undefined);
  pool.on('connect', containParserErrors);
  if (onServerError !== undefined) {
    pool.on('connect', (client) => {
      internalsOf(client).connection.prependListener('errorMessage', (error) => onServerError(error?.code));
    });
  }
  watchConnections(pool, options, options.silenceMs ?? SILENCE_MS);
  return Object.assign(pool, { limit, query: limit.queryOf(pool) });
}

const PROBE_TIMEOUT_MS = 5_000;

/** How long an answer may take that the server had sent, or a query that it had not received, when it was asked. */
const TRANSIT_MS = 2_000;

/**
 * Detects servers that have fallen silent, because their machine stopped or the network drops packets. Without it, a query
 * would wait as long as the kernel retries: a quarter of an hour, or without a limit.
 *
 * If nothing was received on a connection for `silenceMs` while a query is running, asks the server on another connection.
 * If the server still works on the query, the connection stays open. Else the query or its answer may still be in transit:
 * if nothing arrives within two more seconds, the connection is closed, and the query fails as `unavailable`. A connection
 * that is paused, because the reader of a COPY is slow, has not been read: nothing is known of it.
 */
function watchConnections(pool: pg.Pool, options: ConnectionOptions, silenceMs: number): void {
  pool.on('connect', (client) => {
    const stream = socketOf(client);
    let asking = false;
    stream.setTimeout(silenceMs);
    stream.on('timeout', () => {
      stream.setTimeout(silenceMs);
      if (asking || internalsOf(client).readyForQuery || stream.isPaused()) return;
      asking = true;
      void hasFallenSilent(client, options).then((silent) => {
        asking = false;
        if (silent) stream.destroy(new Error('Connection terminated: no data from the database'));
      });
    });
  });
}

async function hasFallenSilent(client: pg.ClientBase, options: ConnectionOptions): Promise<boolean> {
  const stream = socketOf(client);
  const received = stream.bytesRead;
  if (await isAtWork(options, internalsOf(client).processID)) return false;
  await delay(TRANSIT_MS, undefined, { ref: false });
  return stream.bytesRead === received && !internalsOf(client).readyForQuery && !stream.isPaused();
}

/** Whether the server works on a query of this connection, as far as that can be found out. */
async function isAtWork(options: ConnectionOptions, processId: number): Promise<boolean> {
  const client = createClient(options, {
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; state: string | null }>(
      'SELECT pg_backend_pid() AS own, (SELECT state FROM pg_stat_activity WHERE pid = $1) AS state',
      [processId],
    );
    const [found] = rows;
    // Behind a pooler the number that we know is not that of the process which does our work.
    if (found?.own !== internalsOf(client).processID) return true;
    return found.state !== null && !found.state.startsWith('idle');
  } catch (error) {
    // A server that answers, though not to this, is there.
    const { cause } = error as Error;
    return (
      [error, cause].some((found) => found instanceof pg.DatabaseError) && !isUnavailable(error as Error)
    );
  } finally {
    destroySocket(client);
  }
}

/**
 * A statement that a connection parses once under this name, and plans a few times at most. Behind a pooler, where the next
 * transaction may have another connection, it is parsed every time.
 *
 * @param name of this text, and of no other
 */
export function prepared(
  { limit }: Pool,
  name: string,
  text: string,
  values: readonly unknown[],
): pg.QueryConfig<unknown[]> {
  return { text, values: [...values], ...(limit.keepsSessions ? { name } : {}) };
}

type Query = (...args: unknown[]) => Promise<pg.QueryResult>;

/**
 * The time limit of a pool's statements. A direct connection sets it once. Behind a pooler in transaction mode, sessions are
 * shared and keep no state: there, each transaction sets the limit, and the sender of a statement on its own cancels it.
 */
class StatementLimit {
  readonly #limitMs: number | null;
  /** Null before the first connection, and where there is no limit. */
  #isPooled: boolean | null = null;

  constructor(limitMs: number | null) {
    this.#limitMs = limitMs;
  }

  /** After how long a statement outside a transaction must be cancelled; null where the server does so, or there is no limit. */
  get cancelAfterMs(): number | null {
    return this.#isPooled === true ? this.#limitMs : null;
  }

  /** Whether a connection is known to keep what it has prepared. */
  get keepsSessions(): boolean {
    return this.#isPooled === false;
  }

  /** A statement that begins a transaction and, where the session has no limit, sets it; unless it sets another one. */
  begin(statement: string): string {
    if (this.#isPooled !== true || statement.includes('statement_timeout')) return statement;
    return `${statement}; SET LOCAL statement_timeout = ${this.#limitMs}`;
  }

  async prepare(client: pg.ClientBase): Promise<void> {
    if (this.#limitMs === null) return;
    this.#isPooled = await isThroughPooler(client);
    // Not a parameter of the connection's start: a pooler may refuse those.
    if (!this.#isPooled) await client.query(`SET statement_timeout = ${this.#limitMs}`);
  }

  queryOf(pool: pg.Pool): pg.Pool['query'] {
    const query = pool.query.bind(pool) as Query;
    const queryWithLimit: Query = async (...args) => {
      if (this.#limitMs !== null && this.#isPooled === null) (await pool.connect()).release();
      if (this.#isPooled !== true) return await query(...args);
      const begin = this.begin('BEGIN');
      return await inTransaction(pool, (client) => (client.query.bind(client) as Query)(...args), begin);
    };
    return queryWithLimit as unknown as pg.Pool['query'];
  }
}

const BEGIN_WRITE = 'BEGIN; SET LOCAL statement_timeout = 0';

/** A transaction on its own connection; disposing it rolls back what was not committed. */
export class Transaction implements AsyncDisposable {
  readonly client: pg.PoolClient;
  #isOpen = true;

  private constructor(client: pg.PoolClient) {
    this.client = client;
    client.on('error', ignore);
  }

  static async begin(pool: pg.Pool, statement: string = BEGIN_WRITE): Promise<Transaction> {
    const transaction = new Transaction(await pool.connect());
    try {
      await transaction.client.query(statement);
      return transaction;
    } catch (error) {
      await transaction[Symbol.asyncDispose]();
      throw error;
    }
  }

  async commit(): Promise<void> {
    await this.client.query('COMMIT');
    this.#close(false);
  }

  /** Rolls back, unless it is committed, and returns the connection to the pool: clean, or not at all. Never throws. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return;
    const isBroken = await this.client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    this.#close(isBroken);
  }

  #close(isBroken: boolean): void {
    this.#isOpen = false;
    this.client.off('error', ignore);
    this.client.release(isBroken);
  }
}

export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  statement?: string,
): Promise<T> {
  await using transaction = await Transaction.begin(pool, statement);
  const result = await work(transaction.client);
  await transaction.commit();
  return result;
}

/** A connection that breaks fails the query that uses it. */
const ignore = (): void => undefined;

/** The number of the transaction that a connection has begun, for {@link hasCommitted}. */
export async function transactionIdOf(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ id: string }>('SELECT pg_current_xact_id()::text AS id');
  return (rows[0] as { id: string }).id;
}

/** How long to wait for the database to come back after a commit without a response, and how often to ask. */
const COMMIT_WAIT_MS = 5_000;
const COMMIT_POLL_MS = 100;

/** Whether a transaction committed. False also where this cannot be found out in time. @param id number of the transaction */
export async function hasCommitted(pool: pg.Pool, id: string): Promise<boolean> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < COMMIT_WAIT_MS) {
    const found = await pool
      .query<{ status: string | null }>('SELECT pg_xact_status($1::xid8) AS status', [id])
      .catch(() => undefined);
    const [row] = found?.rows ?? [];
    if (row !== undefined && row.status !== 'in progress') return row.status === 'committed';
    await delay(COMMIT_POLL_MS);
  }
  return false;
}
