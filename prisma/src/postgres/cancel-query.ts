import { once } from 'node:events';
import type pg from 'pg';
import { cancelKeyOf, createConnection, tlsOf } from './pg-internals.ts';

const TIMEOUT_MS = 5_000;

/**
 * Asks the server to cancel the query of a connection (PostgreSQL protocol, "Canceling Requests in Progress"), on a
 * separate connection, encrypted like the first, which a pooler forwards as well. Resolves when the server has closed it, or
 * does not respond in time; only the query itself shows whether it was cancelled. Never throws.
 */
export async function cancelQuery(client: pg.ClientBase): Promise<void> {
  const { host, port, processId, secretKey } = cancelKeyOf(client);
  const ssl = tlsOf(client);
  const connection = createConnection(ssl);
  const cancel = (): void => connection.cancel(processId, secretKey);
  connection.on('error', () => undefined);
  connection.on('connect', () => (ssl === false ? cancel() : connection.requestSsl()));
  connection.on('sslconnect', cancel);
  connection.stream.setTimeout(TIMEOUT_MS, () => connection.stream.destroy());
  const ended = once(connection, 'end');
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  await ended.catch(() => undefined);
}
