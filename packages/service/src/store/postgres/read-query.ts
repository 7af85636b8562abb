import { finished } from 'node:stream/promises';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { cancelQuery } from './client.ts';
import { destroySocket } from './pg-internals.ts';
import { type Pool, prepared } from './pool.ts';

/**
 * Runs one statement of a read and gives its rows.
 *
 * @param name for a text that is long to plan and often sent, and for no other text: see `prepared`
 */
export type ReadQuery = <Row extends pg.QueryResultRow>(
  sql: string,
  values?: readonly unknown[],
  name?: string,
) => Promise<Row[]>;

/** Runs the statements of a read on one connection, as part of what else it does, or on a pool as any statement. */
export function queryOf(client: pg.ClientBase | pg.Pool): ReadQuery {
  return async <Row extends pg.QueryResultRow>(sql: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(sql, [...values])).rows;
}

/**
 * Runs one `COPY ... TO STDOUT (FORMAT binary)` and gives all that it sends: bytes come as they are, where rows have them as
 * hexadecimal text.
 */
export type CopyQuery = (sql: string) => Promise<Buffer[]>;

export interface Reads {
  readonly query: ReadQuery;
  readonly copy: CopyQuery;
}

export function createReads(pool: Pool, signal?: AbortSignal): Reads {
  return {
    query: createReadQuery(pool, signal),
    copy: (sql) => readFrom(pool, (_, copy) => copy(sql), signal),
  };
}

export function createReadQuery(pool: Pool, signal?: AbortSignal): ReadQuery {
  return (sql, values, name) => readFrom(pool, (query) => query(sql, values, name), signal);
}

/** How long a server may take to end a query that was cancelled, before its connection is given up. */
const CANCEL_TIMEOUT_MS = 5_000;
const QUERY_CANCELED = '57014';

/**
 * Reads on one connection of the pool. When `signal` aborts, the server cancels the query, and the connection is held
 * until it has: a caller that leaves takes no more of the server than one that stays.
 *
 * @param begin the statement that begins a transaction around `work`; without, each statement is its own
 */
export async function readFrom<T>(
  pool: Pool,
  work: (query: ReadQuery, copy: CopyQuery) => Promise<T>,
  signal?: AbortSignal,
  begin?: string,
): Promise<T> {
  signal?.throwIfAborted();
  const client = await pool.connect();
  const ignore = (): void => undefined; // a connection that breaks fails the query that uses it
  client.on('error', ignore);
  let cancelling: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    if (cancelling !== undefined) return;
    timer = setTimeout(() => destroySocket(client), CANCEL_TIMEOUT_MS);
    cancelling = cancelQuery(client);
  };
  const limitMs = begin === undefined ? pool.limit.cancelAfterMs : null;
  const limit = limitMs === null ? undefined : setTimeout(onAbort, limitMs);
  let isLost = false;
  let wasCancelled = false;
  const attempt = async <R>(statement: () => Promise<R>): Promise<R> => {
    try {
      return await statement();
    } catch (error) {
      // What the server refuses leaves the connection as it was.
      if (error instanceof pg.DatabaseError && error.severity === 'ERROR')
        wasCancelled = error.code === QUERY_CANCELED;
      else isLost = true;
      throw error;
    }
  };
  try {
    signal?.throwIfAborted();
    signal?.addEventListener('abort', onAbort, { once: true });
    const query: ReadQuery = async <Row extends pg.QueryResultRow>(
      sql: string,
      values: readonly unknown[] = [],
      name?: string,
    ) => {
      signal?.throwIfAborted();
      const statement =
        name === undefined ? { text: sql, values: [...values] } : prepared(pool, name, sql, values);
      return (await attempt(() => client.query<Row>(statement))).rows;
    };
    const copy: CopyQuery = async (sql) => {
      signal?.throwIfAborted();
      return await attempt(async () => {
        const chunks: Buffer[] = [];
        // Reading it by an iterator would join the chunks, which is a copy.
        const stream = client.query(copyTo(sql)).on('data', (chunk: Buffer) => chunks.push(chunk));
        await finished(stream);
        return chunks;
      });
    };
    if (begin !== undefined) await query(pool.limit.begin(begin));
    const result = await work(query, copy);
    if (begin !== undefined) await query('COMMIT');
    return result;
  } catch (error) {
    await cancelling;
    if (begin !== undefined && !isLost) await attempt(() => client.query('ROLLBACK')).catch(() => undefined);
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    clearTimeout(limit);
    await cancelling;
    clearTimeout(timer);
    // A cancel request that has found no query might end the next one.
    const isClean = !isLost && (cancelling === undefined || wasCancelled);
    client.release(!isClean);
    if (isClean) client.off('error', ignore);
  }
}

/** Begins a transaction that only reads, and sees the database as it is at its first statement. */
export const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** For statements that add up or join many rows: sorts and hashes in memory, and nothing to compile. */
export const LARGE_JOINS = "SET LOCAL work_mem = '64MB'; SET LOCAL jit = off";

/** Makes Citus apply what a transaction sets on its nodes too; it means nothing to other servers. */
export const SET_ON_NODES = "SET LOCAL citus.propagate_set_commands = 'local'";

/**
 * Estimates of parts and CTEs are guesses: hash joins take linear time whatever there is, and the primary key gives the items
 * of a part in their order, which a bitmap does not.
 */
const AVOIDED = ['enable_nestloop', 'enable_mergejoin', 'enable_bitmapscan'];
const SET = `${SET_ON_NODES}; ${LARGE_JOINS}; ${AVOIDED.map((name) => `SET LOCAL ${name} = off`).join('; ')}`;
const RESET = ['work_mem', 'jit', ...AVOIDED].map((name) => `SET LOCAL ${name} TO DEFAULT`).join('; ');

export async function withHashJoins<T>(query: (sql: string) => Promise<unknown>, work: () => Promise<T>) {
  await query(SET);
  const result = await work();
  await query(RESET);
  return result;
}
