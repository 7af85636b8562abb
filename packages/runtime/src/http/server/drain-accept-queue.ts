import type { Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a server that is to close goes on taking connections at most, while clients keep coming. */
const MAX_MS = 2000;

/**
 * Takes the connections that the operating system has accepted and this process has not. Closing a listening socket
 * resets them, though their clients may have sent whole requests by then.
 */
export async function drainAcceptQueue(server: Server): Promise<void> {
  const startedAt = performance.now();
  let quietTurns = 0;
  const onConnection = (): void => {
    quietTurns = 0;
  };
  server.on('connection', onConnection);
  // libuv takes one connection in each turn of the event loop; the first turn here may be what is left of one
  while (quietTurns < 3 && performance.now() - startedAt < MAX_MS) {
    quietTurns += 1;
    await nextTurn();
  }
  server.off('connection', onConnection);
}
