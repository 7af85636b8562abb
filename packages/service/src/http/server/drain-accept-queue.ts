import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a closing server keeps accepting connections, at most. */
const MAX_MS = 2000;

/**
 * Accepts the connections that are waiting in the queue of the operating system. Closing a listening socket would reset
 * them, though their clients may have sent whole requests already.
 */
export async function drainAcceptQueue(server: Server): Promise<void> {
  const startedAt = performance.now();
  let quietTurns = 0;
  const onConnection = (): void => {
    quietTurns = 0;
  };
  server.on('connection', onConnection);
  // libuv accepts one connection per turn of the event loop; the first turn here may be a partial one
  while (quietTurns < 3 && performance.now() - startedAt < MAX_MS) {
    quietTurns += 1;
    await nextTurn();
  }
  server.off('connection', onConnection);
}
