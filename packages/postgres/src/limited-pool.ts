import pg from 'pg';
import { isThroughPooler } from './pooler.ts';
import { inTransaction } from './transaction.ts';

type Query = (...args: unknown[]) => Promise<pg.QueryResult>;

/**
 * A pool of connections whose statements have a time limit. Behind a pooler in transaction mode, sessions are shared and
 * keep no state: there, each transaction sets the limit, and the sender of a statement on its own cancels it.
 */
export class LimitedPool extends pg.Pool {
  readonly #limitMs: number;
  /** Null before the first connection. */
  #isPooled: boolean | null = null;

  constructor(config: pg.PoolConfig, statementTimeoutMs: number) {
    super({ ...config, onConnect: (client) => this.#setLimit(client) });
    this.#limitMs = statementTimeoutMs;
    const query = super.query.bind(this) as Query;
    const queryWithLimit: Query = async (...args) => {
      if (this.#isPooled === null) (await this.connect()).release();
      if (this.#isPooled === false) return await query(...args);
      const begin = this.beginWithLimit('BEGIN');
      return await inTransaction(this, (client) => (client.query.bind(client) as Query)(...args), begin);
    };
    this.query = queryWithLimit as unknown as pg.Pool['query'];
  }

  /** After how long a statement outside a transaction must be cancelled; null where the server does so. */
  get cancelAfterMs(): number | null {
    return this.#isPooled === true ? this.#limitMs : null;
  }

  /** Whether a connection keeps what it has prepared. */
  get keepsSessions(): boolean {
    return this.#isPooled === false;
  }

  /** A statement that begins a transaction and, where the session has no limit, sets it; unless it sets another one. */
  beginWithLimit(begin: string): string {
    if (this.#isPooled !== true || begin.includes('statement_timeout')) return begin;
    return `${begin}; SET LOCAL statement_timeout = ${this.#limitMs}`;
  }

  async #setLimit(client: pg.ClientBase): Promise<void> {
    this.#isPooled = await isThroughPooler(client);
    // Not a parameter of the connection's start: a pooler may refuse those.
    if (!this.#isPooled) await client.query(`SET statement_timeout = ${this.#limitMs}`);
  }
}

/**
 * A statement that a connection parses once under this name, and plans a few times at most. Behind a pooler, where the next
 * transaction may have another connection, it is parsed every time.
 *
 * @param name of this text, and of no other
 */
export function prepared(
  pool: pg.Pool,
  name: string,
  text: string,
  values: readonly unknown[],
): pg.QueryConfig<unknown[]> {
  const isKept = pool instanceof LimitedPool && pool.keepsSessions;
  return { text, values: [...values], ...(isKept ? { name } : {}) };
}
