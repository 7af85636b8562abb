import type { Socket } from 'node:net';
import type pg from 'pg';

/** The socket of a connection, which `pg` does not publish. */
export function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}

/** Closes a connection at once: its query fails, and the server stops sending. */
export function destroySocket(client: pg.ClientBase, error?: Error): void {
  socketOf(client).destroy(error);
}
