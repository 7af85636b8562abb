import type pg from 'pg';

/** How every connection of the store is made. */
export interface ConnectionOptions {
  /** postgresql:// URL */
  readonly url: string;
  /** shown in pg_stat_activity */
  readonly applicationName?: string;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Configuration of `pg` for one connection or a pool of them. */
export function connectionConfig(options: ConnectionOptions): pg.PoolConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
}
