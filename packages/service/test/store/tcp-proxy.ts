import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { serverAddress } from './server-address.ts';

/** What happens to the bytes of connections: passed on, passed on later, or kept for good. */
type Line = 'passes' | 'stalls' | { readonly delayMs: number };

/** A proxy between a service and a server that breaks the connection as a network does. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** postgresql:// URL of the server that connections go to; null refuses them */
  target: string | null;
  /** of all connections, also those that are open; what was kept back is passed on when the line passes again */
  line: Line;
  /** Breaks every open connection. */
  cut(): void;
  /** Passes nothing more on what is open now; what is opened later passes. */
  stallOpen(): void;
  /** When a client sends this text it still arrives, but nothing comes back, and the line breaks. */
  loseResponseTo: string | null;
  /** connections that are open now */
  readonly open: () => number;
}

/** Starts a proxy on a free port of the loopback interface. */
export async function startTcpProxy(target: string | null): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let line: Line = 'passes';
  let changed = Promise.withResolvers<void>();

  const stalled = new WeakSet<Socket>();

  async function pass(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const chunk of from) {
        while (line === 'stalls' || stalled.has(from)) await changed.promise;
        if (typeof line === 'object') await delay(line.delayMs);
        if (!to.write(chunk)) await once(to, 'drain');
        if (proxy.loseResponseTo !== null && chunk.includes(proxy.loseResponseTo)) {
          stalled.add(to);
          setTimeout(() => breakOff(from), 100);
        }
      }
      to.end();
    } catch {
      to.destroy();
    }
  }

  const server = createServer((client) => {
    if (proxy.target === null) {
      client.resetAndDestroy();
      return;
    }
    const upstream = connect(serverAddress(proxy.target));
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        for (const other of [client, upstream]) if (!other.destroyed && other !== socket) other.destroySoon();
      });
    }
    void pass(client, upstream);
    void pass(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  const proxy: TcpProxy = {
    port,
    target,
    loseResponseTo: null,
    get line() {
      return line;
    },
    set line(value) {
      line = value;
      changed.resolve();
      changed = Promise.withResolvers<void>();
    },
    cut: () => {
      for (const socket of sockets) breakOff(socket);
    },
    stallOpen: () => {
      for (const socket of sockets) stalled.add(socket);
    },
    open: () => sockets.size / 2,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      proxy.line = 'passes';
      proxy.cut();
      await closed;
    },
  };
  return proxy;
}

/** Resets a TCP connection. A Unix socket knows no reset: the server's side of the line is closed. */
function breakOff(socket: Socket): void {
  if (socket.remoteFamily === undefined) socket.destroy();
  else socket.resetAndDestroy();
}
