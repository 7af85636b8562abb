import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Layout } from '../layout.ts';
import { firstBarredFolder } from '../process/postgres-account.ts';
import type { Account } from '../process/spawn-as.ts';

/** Where a server listens: a socket in a folder, or a port of the loopback interface (Windows). */
export type Endpoint =
  | { readonly socketFolder: string; readonly port: number }
  | { readonly socketFolder: null; readonly port: number };

/** Part of the name of the socket; no port of this number is opened. */
export const SOCKET_PORT = 5432;

/** Longest path of a socket, in bytes: `sun_path` without its last byte. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;

/** The folder of a server's socket. Only the server's account and root can enter it. */
export interface SocketFolder extends AsyncDisposable {
  readonly path: string;
  /** Whether the folder is temporary and is removed with the server. */
  readonly isTemporary: boolean;
}

/**
 * Chooses the folder of the socket: the server's folder, which is closed to others, or a new folder with a short path if
 * the path of the data folder is too long for a socket.
 */
export async function openSocketFolder(layout: Layout, account: Account | null): Promise<SocketFolder> {
  if (fits(layout.folder)) {
    return { path: layout.folder, isTemporary: false, [Symbol.asyncDispose]: async () => undefined };
  }
  const own = tmpdir();
  const isOwnOfUse =
    fits(join(own, 'svc-XXXXXX')) && (account === null || (await firstBarredFolder(account, [own])) === null);
  const path = await mkdtemp(join(isOwnOfUse ? own : '/tmp', 'svc-'));
  if (account !== null) await chown(path, account.uid, account.gid);
  return {
    path,
    isTemporary: true,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

export function socketIn(folder: string): string {
  return join(folder, `.s.PGSQL.${SOCKET_PORT}`);
}

const fits = (folder: string): boolean => Buffer.byteLength(socketIn(folder)) <= MAX_SOCKET_PATH_BYTES;

/** Finds a port of the loopback interface that is free now. */
export function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Makes the postgresql:// URL of a database at an endpoint. A port is used with SCRAM only: see `require_auth`. */
export function urlOf(endpoint: Endpoint, user: string, password: string, database: string): string {
  const { socketFolder, port } = endpoint;
  const host = socketFolder === null ? '127.0.0.1' : encodeURIComponent(socketFolder);
  const url = `postgresql://${user}:${password}@${host}:${port}/${database}`;
  return socketFolder === null ? `${url}?require_auth=scram-sha-256` : url;
}
