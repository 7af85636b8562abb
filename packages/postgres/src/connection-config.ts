import pg from 'pg';
import { ScramClient } from './scram-client.ts';

/** What every connection needs. */
export interface ConnectionOptions {
  /** A postgresql:// URL; with `?require_auth=scram-sha-256`, only that authentication method is accepted. */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Configuration of a `pg` client or pool. */
export interface ConnectionConfig {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  readonly keepAlive: boolean;
  /** Class of the pool's connections. */
  readonly Client?: typeof ScramClient;
}

/** Makes the configuration of a `pg` client or pool. */
export function connectionConfig(options: ConnectionOptions): ConnectionConfig {
  const config = {
    connectionString: options.url,
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  };
  return requiresScram(options.url) ? { ...config, Client: ScramClient } : config;
}

/** Makes a client that is not connected yet. */
export function createClient(options: ConnectionOptions, more: pg.ClientConfig = {}): pg.Client {
  const { Client: _, ...config } = connectionConfig(options);
  const Client = requiresScram(options.url) ? ScramClient : pg.Client;
  return new Client({ ...config, ...more });
}

function requiresScram(url: string): boolean {
  return URL.parse(url)?.searchParams.get('require_auth') === 'scram-sha-256';
}
