import type pg from 'pg';
import { setPipelining, socketOf } from './pg-internals.ts';

/** What promises resolve to. */
export type Results<T extends readonly Promise<unknown>[]> = {
  -readonly [Index in keyof T]: Awaited<T[Index]>;
};

/**
 * Sends the statements of `send` in one write, each without waiting for the result of the one before: they share a round
 * trip to the server, which runs them in order. The client must be idle, and no statement may be a COPY.
 *
 * @param send queries the client before it returns, and not later
 * @throws what the first statement that failed says, after the last one has ended
 */
export async function sendTogether<const T extends readonly Promise<unknown>[]>(
  client: pg.ClientBase,
  send: () => T,
): Promise<Results<T>> {
  const socket = socketOf(client);
  setPipelining(client, true);
  socket.cork();
  let sent: T;
  try {
    sent = send();
  } finally {
    socket.uncork();
  }
  await Promise.allSettled(sent);
  setPipelining(client, false);
  return (await Promise.all(sent)) as Results<T>;
}
