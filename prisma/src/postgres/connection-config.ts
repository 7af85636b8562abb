import type pg from 'pg';
import { Client, type ClientConfig } from './client.ts';
import { readTls } from './tls.ts';

/** What every connection needs. */
export interface ConnectionOptions {
  /**
   * A postgresql:// URL, with `sslmode`, `sslrootcert`, `sslcert` and `sslkey` as libpq defines them; with
   * `?require_auth=scram-sha-256`, only that authentication method is accepted.
   */
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName?: string;
}

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Makes the configuration of a client, or of a pool with {@link Client} as its class.
 *
 * @throws Error that continues the name of the URL, for parameters of TLS that cannot be used
 */
export function connectionConfig(options: ConnectionOptions): ClientConfig {
  const { url, attempts } = readTls(options.url);
  const parameters = URL.parse(options.url)?.searchParams;
  return {
    connectionString: url,
    application_name: options.applicationName ?? 'svc',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    enableChannelBinding: parameters?.get('channel_binding') === 'require',
    attempts,
    requiresScram: parameters?.get('require_auth') === 'scram-sha-256',
  };
}

/** Makes a client that is not connected yet. */
export function createClient(options: ConnectionOptions, more: pg.ClientConfig = {}): Client {
  return new Client({ ...connectionConfig(options), ...more });
}
