import pg from 'pg';
import { type ConnectionOptions, connectionConfig } from './connection-config.ts';
import { containParserErrors } from './pg-internals.ts';
import { StatementLimit } from './statement-limit.ts';
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
