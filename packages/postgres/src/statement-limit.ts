import type pg from 'pg';
import { isThroughPooler } from './pooler.ts';
import { inTransaction } from './transaction.ts';

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
