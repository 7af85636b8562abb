import pg from 'pg';
import { type ConnectionOptions, connectionConfig } from './connection-config.ts';
import { LimitedPool } from './limited-pool.ts';
import { containParserErrors } from './pg-internals.ts';
import { watchConnections } from './watch-connections.ts';

/** How long a query may go without a byte before the server is asked whether it still works on it. */
const SILENCE_MS = 30_000;

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
): pg.Pool {
  const { statementTimeoutMs, keepIdle = false } = options;
  const config = {
    ...connectionConfig(options),
    max: options.size,
    ...(keepIdle ? { idleTimeoutMillis: 0 } : {}),
  };
  const pool =
    statementTimeoutMs === undefined ? new pg.Pool(config) : new LimitedPool(config, statementTimeoutMs);
  pool.on('error', () => undefined);
  pool.on('connect', containParserErrors);
  watchConnections(pool, options, options.silenceMs ?? SILENCE_MS);
  return pool;
}
