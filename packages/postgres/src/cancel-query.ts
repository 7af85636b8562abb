import { once } from 'node:events';
import { connect } from 'node:net';
import type pg from 'pg';
import { cancelKeyOf } from './pg-internals.ts';

const CANCEL_REQUEST_CODE = 80_877_102;
const TIMEOUT_MS = 5_000;

/**
 * Asks the server to cancel the query of a connection (PostgreSQL protocol, "Canceling Requests in Progress"), on a
 * separate connection, which a pooler forwards as well. Resolves when the server has closed it, or does not respond in
 * time; only the query itself shows whether it was cancelled. Never throws.
 */
export async function cancelQuery(client: pg.ClientBase): Promise<void> {
  const { host, port, processId, secretKey } = cancelKeyOf(client);
  const request = Buffer.alloc(16);
  request.writeInt32BE(16, 0);
  request.writeInt32BE(CANCEL_REQUEST_CODE, 4);
  request.writeInt32BE(processId, 8);
  request.writeInt32BE(secretKey, 12);
  const socket = connect(host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port });
  socket.on('error', () => undefined);
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.resume().write(request);
  if (!socket.closed) await once(socket, 'close').catch(() => undefined);
}
