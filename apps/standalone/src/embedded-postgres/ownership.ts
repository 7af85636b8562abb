import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isProcessAlive } from '@svc/service';
import type pg from 'pg';
import {
  connect,
  type Endpoint,
  isStoppingOrStarting,
  isWrongPassword,
  MAINTENANCE_DATABASE,
  type openSocketFolder,
  SERVICE,
  SOCKET_PORT,
  SUPERUSER,
  socketIn,
} from './connection.ts';
import { EmbeddedPostgresError, type Layout } from './layout.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { type Account, type Guard, pause, runToEnd } from './processes.ts';

export interface ServerPlan {
  readonly layout: Layout;
  readonly binaries: PostgresBinaries;
  readonly account: Account | null;
  readonly guard: Guard;
  readonly socketFolder: Awaited<ReturnType<typeof openSocketFolder>>;
  /** How a program names its working directory. */
  readonly nameOf: (folder: string) => string;
  readonly settings: Readonly<Record<string, string>>;
  readonly superuserPassword: string;
  readonly servicePassword: string;
  readonly signal: AbortSignal;
}

const fileOf = (layout: Layout): string => join(layout.data, 'postmaster.pid');

/** Null when there is none, or a damaged one. @see https://github.com/postgres/postgres/blob/REL_18_STABLE/src/include/utils/pidfile.h */
export async function readPostmasterFile(layout: Layout) {
  const lines = (await readFile(fileOf(layout), 'utf8').catch(() => '')).split('\n');
  const [first = '', , , port = '', socketFolder = '', , , status = ''] = lines;
  // a server without a postmaster (single-user mode) writes its process id with a minus
  if (!/^-?[1-9]\d{0,9}$/.test(first)) return null;
  return {
    pid: Math.abs(Number(first)),
    /** Null when the file does not name it. */
    endpoint: /^[1-9]\d{0,4}$/.test(port)
      ? { port: Number(port), socketFolder: folderIn(layout, socketFolder) }
      : null,
    isReady: status.trim() === 'ready',
  };
}

function folderIn(layout: Layout, socketFolder: string): string | null {
  if (socketFolder === '') return null; // Windows, and older versions
  return socketFolder.startsWith('/') ? socketFolder : layout.folder;
}

/**
 * Finds the server that uses the folder. If there is none, removes the files of a dead server: PostgreSQL does not start
 * if the file is empty, damaged, or contains the process id of another program.
 */
async function findRunningServer(layout: Layout) {
  const leftovers = [fileOf(layout), socketIn(layout.folder), `${socketIn(layout.folder)}.lock`];
  const before = await Promise.all(leftovers.map(identityOf));
  if (before.every((identity) => identity === null)) return null;

  const file = await readPostmasterFile(layout);
  const pid = await serverPid(layout, file);
  if (pid !== null) {
    const endpoint = file?.pid === pid ? file.endpoint : null;
    return { pid, endpoint: endpoint ?? { socketFolder: layout.folder, port: SOCKET_PORT } };
  }
  for (const [index, path] of leftovers.entries()) {
    // not the file of a server that has started since
    if ((await identityOf(path)) === before[index]) await rm(path, { force: true });
  }
  return null;
}

async function identityOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.dev} ${found.ino} ${found.mtimeNs}`;
}

async function serverPid(layout: Layout, file: { readonly pid: number } | null): Promise<number | null> {
  if (process.platform === 'linux') return await serverByFolder(layout);
  if (process.platform !== 'win32') return await serverByArguments(layout);
  return file !== null && isAlive(file.pid) ? file.pid : null;
}

/** A server and its processes use the data folder as working directory: the server is the one whose parent does not. */
async function serverByFolder(layout: Layout): Promise<number | null> {
  const own = await stat(layout.data, { bigint: true }).catch(() => null);
  if (own === null) return null;
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const command = await readFile(`/proc/${name}/comm`, 'utf8').catch(() => '');
    if (command.trim() !== 'postgres') continue;
    // other users' processes are hidden, and the server never belongs to another user
    const folder = await stat(`/proc/${name}/cwd`, { bigint: true }).catch(() => null);
    if (folder?.ino !== own.ino || folder.dev !== own.dev) continue;
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    parents.set(Number(name), Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]));
  }
  for (const [pid, parent] of parents) if (!parents.has(parent)) return pid;
  return null;
}

async function serverByArguments(layout: Layout): Promise<number | null> {
  const { output } = await runToEnd('ps', ['-axww', '-o', 'pid=,command=']);
  for (const line of output.split('\n')) {
    const [, pid, command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (/^\S*postgres /.test(command) && command.includes(`-D ${layout.data} `)) return Number(pid);
  }
  return null;
}

export const isAlive = (pid: number): boolean => isProcessAlive(process.kill, pid);

/** Held by the process that owns the server, on a separate connection: the kernel closes it when the process dies. */
const OWNER_LOCK = 5_267_718;

/** Makes this process the owner of the server, unless another process is. */
async function tryOwnerLock(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ owned: boolean }>('SELECT pg_try_advisory_lock($1) AS owned', [
    OWNER_LOCK,
  ]);
  return rows[0]?.owned === true;
}

/** The id of the process that owns the server; null if it has just ended. */
async function ownerPid(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND granted`,
    [OWNER_LOCK],
  );
  const pid = /^svc-owner-(\d+)$/.exec(rows[0]?.name ?? '')?.[1];
  return pid === undefined ? null : Number(pid);
}

interface OrphanOptions extends Pick<ServerPlan, 'layout' | 'superuserPassword' | 'signal'> {
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
}

/** Stops the server of a process that died. If the process is alive, the error names it. */
export async function stopOrphan(options: OrphanOptions): Promise<void> {
  const { layout, superuserPassword: password, deadline, signal } = options;
  for (;;) {
    signal.throwIfAborted();
    const running = await findRunningServer(layout);
    if (running === null) return;
    const login = { user: SUPERUSER, password, database: MAINTENANCE_DATABASE };
    const client = await connect(running.endpoint, login).catch((error: unknown) => {
      if (isWrongPassword(error)) throw wrongPassword(layout, error);
      return null;
    });
    if (client !== null && (await stopUnlessOwned(client, running.pid, options))) return;
    // starting, recovering or stopping: retry
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(
        `Process ${running.pid}, a database server, is using ${layout.folder} and does not respond: stop it first.`,
      );
    }
    await pause(100, signal);
  }
}

function wrongPassword(layout: Layout, cause: unknown): Error {
  return new EmbeddedPostgresError(
    `The password in ${layout.superuserPassword} does not match the database: restore the whole folder from one copy.`,
    cause,
  );
}

/** @returns false when another process stops the server */
async function stopUnlessOwned(client: pg.Client, pid: number, options: OrphanOptions): Promise<boolean> {
  const { layout, deadline, signal } = options;
  try {
    if (!(await tryOwnerLock(client))) {
      const owner = await ownerPid(client);
      throw new EmbeddedPostgresError(
        `${owner === null ? 'Another process' : `Process ${owner}`} is using the data folder ${layout.dataDir}: ` +
          'stop it first, or choose another folder (SVC_DATA_DIR).',
      );
    }
    interrupt(pid);
    while (isAlive(pid)) {
      signal.throwIfAborted();
      if (performance.now() > deadline)
        throw new EmbeddedPostgresError(`The database server (process ${pid}) does not stop.`);
      await pause(20, signal);
    }
    return true;
  } catch (error) {
    if (isStoppingOrStarting(error)) return false;
    throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Prepares the database as the superuser, then holds the owner's lock as the ordinary role; null if another process does. */
export async function takeServer(plan: ServerPlan, endpoint: Endpoint): Promise<pg.Client | null> {
  return await claim(plan, endpoint).catch((error: unknown) => {
    if (isStoppingOrStarting(error)) return null;
    throw error;
  });
}

async function claim(plan: ServerPlan, endpoint: Endpoint): Promise<pg.Client | null> {
  const login = { user: SUPERUSER, password: plan.superuserPassword, database: MAINTENANCE_DATABASE };
  const superuser = await connect(endpoint, login).catch((cause: unknown) => {
    throw isWrongPassword(cause) ? wrongPassword(plan.layout, cause) : cause;
  });
  const asService = (): Promise<pg.Client> =>
    connect(endpoint, { ...login, user: SERVICE, password: plan.servicePassword });
  let owner: pg.Client;
  try {
    if (!(await tryOwnerLock(superuser))) return null;
    await prepareDatabase(superuser, plan.servicePassword);
    owner = await asService().catch(async (cause: unknown) => {
      if (!isWrongPassword(cause)) throw cause;
      await superuser.query(`ALTER ROLE ${SERVICE} PASSWORD '${plan.servicePassword}'`);
      return await asService();
    });
  } finally {
    await superuser.end().catch(() => undefined);
  }
  // Another process may have claimed the server since; that process then stops it.
  if (await tryOwnerLock(owner)) return owner;
  await owner.end().catch(() => undefined);
  return null;
}

const ORDINARY = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';

/** The service's role is an ordinary one, and owns the database. Writes nothing if both are as required. */
async function prepareDatabase(superuser: pg.Client, password: string): Promise<void> {
  const { rows } = await superuser.query<{ ordinary: boolean | null; owner: string | null }>(
    `SELECT
       (SELECT rolcanlogin AND NOT (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)
        FROM pg_roles WHERE rolname = $1) AS ordinary,
       (SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = $1) AS owner`,
    [SERVICE],
  );
  const [found] = rows;
  if (found?.ordinary === null) {
    await superuser.query(`CREATE ROLE ${SERVICE} ${ORDINARY} PASSWORD '${password}'`);
  } else if (found?.ordinary === false) {
    await superuser.query(`ALTER ROLE ${SERVICE} ${ORDINARY}`);
  }
  if (found?.owner === null) await superuser.query(`CREATE DATABASE ${SERVICE} OWNER ${SERVICE}`);
  else if (found?.owner !== SERVICE) {
    throw new EmbeddedPostgresError(
      'Cannot use the database: a version before 0.1.0 made it. Export its datasets with that version, and import them ' +
        'with this one into an empty data folder.',
    );
  }
}
