import { type ConnectionOptions, createClient } from '@svc/postgres-client';
import pg from 'pg';
import { destroySocket, socketOf } from './client-socket.ts';
import { toStoreError } from './errors.ts';

/** What of `pg` a watched connection is known by. */
interface Watched {
  readonly processID: number;
  readonly readyForQuery: boolean;
}

const PROBE_TIMEOUT_MS = 5_000;

/**
 * Watches the connections of a pool for servers that have fallen silent: a machine that went away without a word, a
 * network that swallows what is sent. Whoever waits for an answer would wait for as long as the kernel tries, a quarter of
 * an hour or for ever.
 *
 * A connection on which nothing has moved for `silenceMs`, while a query is under way, is looked into through another one:
 * where the server is still at work on it, it is left alone; else it is closed, and its query fails as `unavailable`.
 */
export function watchConnections(pool: pg.Pool, options: ConnectionOptions, silenceMs: number): void {
  pool.on('connect', (client) => {
    const watched = client as unknown as Watched;
    const stream = socketOf(client);
    stream.setTimeout(silenceMs);
    stream.on('timeout', () => {
      stream.setTimeout(silenceMs);
      if (watched.readyForQuery) return;
      void isAtWork(options, watched.processID).then((atWork) => {
        if (!atWork && !watched.readyForQuery) {
          stream.destroy(new Error('Connection terminated: the database has fallen silent'));
        }
      });
    });
  });
}

/** Whether the server works on a query of this connection of ours, as far as one can know. */
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
    if (found?.own !== (client as unknown as Watched).processID) return true;
    return found.state !== null && !found.state.startsWith('idle');
  } catch (error) {
    // A server that answers, though not to this, is there.
    return error instanceof pg.DatabaseError && toStoreError(error) === error;
  } finally {
    destroySocket(client);
  }
}
