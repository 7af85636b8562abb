import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type ConnectionOptions, createClient } from './client.ts';
import { isUnavailable } from './driver-errors.ts';
import { destroySocket, internalsOf, socketOf } from './pg-internals.ts';

const PROBE_TIMEOUT_MS = 5_000;

/** How long an answer may take that the server had sent, or a query that it had not received, when it was asked. */
const TRANSIT_MS = 2_000;

/**
 * Detects servers that have fallen silent, because their machine stopped or the network drops packets. Without it, a query
 * would wait as long as the kernel retries: a quarter of an hour, or without a limit.
 *
 * If nothing was received on a connection for `silenceMs` while a query is running, asks the server on another connection.
 * If the server still works on the query, the connection stays open. Else the query or its answer may still be in transit:
 * if nothing arrives within two more seconds, the connection is closed, and the query fails as `unavailable`. A connection
 * that is paused, because the reader of a COPY is slow, has not been read: nothing is known of it.
 */
export function watchConnections(pool: pg.Pool, options: ConnectionOptions, silenceMs: number): void {
  pool.on('connect', (client) => {
    const stream = socketOf(client);
    let asking = false;
    stream.setTimeout(silenceMs);
    stream.on('timeout', () => {
      stream.setTimeout(silenceMs);
      if (asking || internalsOf(client).readyForQuery || stream.isPaused()) return;
      asking = true;
      void hasFallenSilent(client, options).then((silent) => {
        asking = false;
        if (silent) stream.destroy(new Error('Connection terminated: no data from the database'));
      });
    });
  });
}

async function hasFallenSilent(client: pg.ClientBase, options: ConnectionOptions): Promise<boolean> {
  const stream = socketOf(client);
  const received = stream.bytesRead;
  if (await isAtWork(options, internalsOf(client).processID)) return false;
  await delay(TRANSIT_MS, undefined, { ref: false });
  return stream.bytesRead === received && !internalsOf(client).readyForQuery && !stream.isPaused();
}

/** Whether the server works on a query of this connection, as far as that can be found out. */
async function isAtWork(options: ConnectionOptions, processId: number): Promise<boolean> {
  const client = createClient(options, {
    connectionTimeoutMillis: PROBE_TIMEOUT_MS,
    query_timeout: PROBE_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ own: number; state: string | null }>(
      'SELECT pg_backend_pid() AS own, (SELECT state FROM pg_stat_activity WHERE pid = $1) AS state',
      [processId],
    );
    const [found] = rows;
    // Behind a pooler the number that we know is not that of the process which does our work.
    if (found?.own !== internalsOf(client).processID) return true;
    return found.state !== null && !found.state.startsWith('idle');
  } catch (error) {
    // A server that answers, though not to this, is there.
    const { cause } = error as Error;
    return (
      [error, cause].some((found) => found instanceof pg.DatabaseError) && !isUnavailable(error as Error)
    );
  } finally {
    destroySocket(client);
  }
}
