import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';

/** A port that stays while what is behind it goes away and comes back elsewhere. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Forwards new connections to this port of the loopback interface; null refuses them and breaks the old ones. */
  readonly forwardTo: (port: number | null) => void;
}

export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target: number | null = null;
  const server = createServer((client) => {
    if (target === null) return void client.destroy();
    const upstream = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    forwardTo: (port) => {
      target = port;
      if (port === null) breakAll();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      breakAll();
      await closed;
    },
  };
}
