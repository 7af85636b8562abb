import type { AddressInfo } from 'node:net';
import { connect, createServer, type Socket } from 'node:net';
import { serverAddress } from '../../../prisma/test/server-address.ts';

/** A port that stays open while the server behind it stops and starts at another address. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Forwards new connections to the server of this postgresql:// URL; null refuses them and breaks the old ones. */
  readonly forwardTo: (url: string | null) => void;
}

export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let target: string | null = null;
  const server = createServer((client) => {
    if (target === null) return void client.destroy();
    const upstream = connect(serverAddress(target));
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
    forwardTo: (url) => {
      target = url;
      if (url === null) breakAll();
    },
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      breakAll();
      await closed;
    },
  };
}
