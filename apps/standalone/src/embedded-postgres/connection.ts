import { chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, isUnavailable } from '@svc/service/store/postgres';
import pg from 'pg';
import type { Layout } from './layout.ts';
import { firstBarredFolder } from './postgres-account.ts';
import type { Account } from './processes.ts';

/** Where a server listens: a socket in a folder, or without one a port of the loopback interface (Windows). */
export interface Endpoint {
  readonly socketFolder: string | null;
  readonly port: number;
}

/** Part of the name of the socket; no port of this number is opened. */
export const SOCKET_PORT = 5432;

/** `sun_path` without its last byte. */
const MAX_SOCKET_PATH_BYTES = process.platform === 'darwin' ? 103 : 107;

/**
 * Chooses the folder of the socket: the server's folder, which is closed to others, or a new folder with a short path if
 * the path of the data folder is too long for a socket. Only the server's account and root can enter it.
 */
export async function openSocketFolder(layout: Layout, account: Account | null) {
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
export function urlOf({ socketFolder, port }: Endpoint, { user, password, database }: Login): string {
  const host = socketFolder === null ? '127.0.0.1' : encodeURIComponent(socketFolder);
  const url = `postgresql://${user}:${password}@${host}:${port}/${database}`;
  return socketFolder === null ? `${url}?require_auth=scram-sha-256` : url;
}

export const SUPERUSER = 'postgres';
/** The service's role, and the database that it owns. */
export const SERVICE = 'svc';
/** Every server has this database; it contains the lock of the server's owner. */
export const MAINTENANCE_DATABASE = 'postgres';

export interface Login {
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

/** Connects to an embedded server, by SCRAM on a port. The connection's name contains the id of this process. */
export async function connect(endpoint: Endpoint, login: Login): Promise<pg.Client> {
  const client = createClient(
    { url: urlOf(endpoint, login), applicationName: `svc-owner-${process.pid}` },
    { connectionTimeoutMillis: 5_000 },
  );
  client.on('error', () => undefined); // the end of the server's process reports it
  try {
    await client.connect();
  } catch (error) {
    client.end().catch(() => undefined);
    throw error;
  }
  return client;
}

export function isWrongPassword(error: unknown): boolean {
  return (error as { code?: unknown }).code === '28P01';
}

/** Whether a server that stops or starts has refused a query or a connection, or has closed a connection. */
export function isStoppingOrStarting(error: unknown): boolean {
  const { cause = error } = error as Error;
  if (cause instanceof pg.DatabaseError) return cause.code === '57P01' || cause.code === '57P03';
  return error instanceof Error && isUnavailable(error);
}
