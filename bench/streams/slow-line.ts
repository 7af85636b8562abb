/**
 * A line between the service and its database as between two machines, in its own process:
 * `node slow-line.ts <socket or host:port> <delay in ms, one way> <bytes per second and connection>`.
 */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const [target = '', delayMs = '0', bytesPerSecond = '0'] = process.argv.slice(2);
/** Bytes on the way, as the window of a connection. */
const WINDOW_BYTES = 1024 * 1024;

async function pass(from: Socket, to: Socket): Promise<void> {
  let freeAt = performance.now();
  let onTheWay = 0;
  let arrived = Promise.withResolvers<void>();
  let last = Promise.resolve();
  for await (const chunk of from as AsyncIterable<Buffer>) {
    while (onTheWay >= WINDOW_BYTES) await arrived.promise;
    freeAt = Math.max(freeAt, performance.now()) + (chunk.byteLength / Number(bytesPerSecond)) * 1000;
    onTheWay += chunk.byteLength;
    const arrivesAt = freeAt + Number(delayMs);
    last = last.then(async () => {
      const waitMs = arrivesAt - performance.now();
      if (waitMs >= 1) await delay(waitMs);
      if (!to.destroyed && !to.write(chunk)) await Promise.race([once(to, 'drain'), once(to, 'close')]);
      onTheWay -= chunk.byteLength;
      arrived.resolve();
      arrived = Promise.withResolvers<void>();
    });
  }
  await last;
  to.end();
}

const server = createServer((client) => {
  const [host = '', port] = target.split(':');
  const upstream = target.startsWith('/') ? connect(target) : connect(Number(port), host);
  for (const [socket, other] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    socket.setNoDelay(true);
    socket.on('error', () => other.destroy());
    pass(socket, other).catch(() => other.destroy());
  }
});
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`port ${(server.address() as { port: number }).port}\n`);
});
