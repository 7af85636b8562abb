import pg from 'pg';
import { type ConnectionOptions, connectionConfig } from './connection-config.ts';
import { containParserErrors } from './pg-internals.ts';
import { isThroughPooler } from './pooler.ts';
import { inTransaction } from './transaction.ts';
import { watchConnections } from './watch-connections.ts';

/** How long a query may go without a byte before the server is asked whether it still works on it. */
const SILENCE_MS = 30_000;

/** A pool of `pg`, whose statements have a time limit. */
export interface Pool extends pg.Pool {
  readonly limit: StatementLimit;
}

/**
 * A pool that outlives its connections: one that breaks while idle is dropped in silence, and the next query
 * opens another; one whose server has fallen silent is closed.
 */
export function createPool(
  options: ConnectionOptions & {
    readonly size: number;
    readonly silenceMs?: number;
    /** whether connections stay open while nothing uses them; else they close after 10 s */
    readonly keepIdle?: boolean;
    /** how long a statement may take; without, as long as it likes. Transactions that write have no such limit */
    readonly statementTimeoutMs?: number | undefined;
  },
): Pool {
  const { statementTimeoutMs, keepIdle = false } = options;
  const config = {
    ...connectionConfig(options),
    max: options.size,
    ...(keepIdle ? { idleTimeoutMillis: 0 } : {}),
  };
  const limit = new StatementLimit(statementTimeoutMs ?? null);
  const pool = new pg.Pool({ ...config, onConnect: (client) => limit.prepare(client) });
  pool.on('error', () => undefined);
  pool.on('connect', containParserErrors);
  watchConnections(pool, options, options.silenceMs ?? SILENCE_MS);
  return Object.assign(pool, { limit, query: limit.queryOf(pool) });
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
export class StatementLimit {
  readonly #limitMs: number | null;
  /** Null before the first connection, and where there is no limit. */
  #isPooled: boolean | null = null;

  /** @param limitMs null for no limit */
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

  /** Sets the limit of a new connection, before its first statement. */
  async prepare(client: pg.ClientBase): Promise<void> {
    if (this.#limitMs === null) return;
    this.#isPooled = await isThroughPooler(client);
    // Not a parameter of the connection's start: a pooler may refuse those.
    if (!this.#isPooled) await client.query(`SET statement_timeout = ${this.#limitMs}`);
  }

  /** The `query` of a pool, with the limit also behind a pooler. */
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
