import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/store/migrate/migrate.ts';
import { queryDatabase } from './query-database.ts';

const DEBIAN = '/usr/lib/postgresql';
/** The folder of the programs of an installed PostgreSQL; the embedded one lacks some of them. Null where there is none. */
export const BINARIES: string | null = findBinaries();
/** Says what a machine lacks for tests with a server of its own; undefined if it lacks nothing. */
export const NO_CLUSTER: string | undefined =
  BINARIES === null ? 'no PostgreSQL is installed (apt-get install postgresql)' : undefined;
/** The same for tests with PgBouncer. */
export const NO_PGBOUNCER: string | undefined =
  NO_CLUSTER ?? (programOf('pgbouncer') === null ? 'this machine has no pgbouncer' : undefined);

/** A server of a cluster. */
interface ClusterServer {
  /** postgresql:// URL of the database, as an ordinary role that owns it */
  readonly url: string;
  /** Runs a statement in it as a superuser. */
  // biome-ignore lint/suspicious/noExplicitAny: rows have every shape
  query(sql: string): Promise<any[]>;
  /** Ends the server without a shutdown. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** A PostgreSQL with an empty, migrated database, in a temporary folder. */
export interface Cluster extends AsyncDisposable {
  readonly primary: ClusterServer;
  /**
   * Starts PgBouncer in transaction mode in front of the primary.
   *
   * @param sessions of the server that all clients share
   * @returns the URL of the database through it
   */
  startPooler(sessions: number): Promise<string>;
}

const SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  listen_addresses: '',
  max_connections: '200',
  shared_buffers: '64MB',
  shared_preload_libraries: 'pg_stat_statements',
};

/** Starts a server with a migrated database. */
export async function startCluster(): Promise<Cluster> {
  await using starting = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'svc-cluster-'));
  starting.defer(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const primaryFolder = ownFolder(join(folder, 'p'));
  initServer(primaryFolder, 'postgres');
  const primary = createServer(primaryFolder, SETTINGS);
  starting.defer(() => primary.kill());
  await primary.start();
  await queryDatabase(urlOf(primaryFolder, 'postgres', 'postgres'), 'CREATE ROLE svc LOGIN');
  await queryDatabase(urlOf(primaryFolder, 'postgres', 'postgres'), 'CREATE DATABASE svc OWNER svc');
  await primary.query('CREATE EXTENSION pg_stat_statements');
  await migrate(primary.url);
  const running = starting.move();
  return {
    primary,
    async startPooler(sessions) {
      const pooler = startPgBouncer(ownFolder(join(folder, 'b')), primaryFolder, sessions);
      running.defer(() => endOf(pooler.child, 'SIGTERM'));
      await printed(pooler.child, 'process up');
      return pooler.url;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function createServer(folder: string, settings: Readonly<Record<string, string>>): ClusterServer {
  let child: ChildProcess | undefined;
  const superuserUrl = urlOf(folder, 'postgres', 'svc');
  return {
    url: urlOf(folder, 'svc', 'svc'),
    query: (sql) => queryDatabase(superuserUrl, sql),
    async kill() {
      if (child !== undefined) await endOf(child, 'SIGQUIT');
    },
    async start() {
      child = await startServer(folder, { ...settings, unix_socket_directories: folder });
    },
  };
}

/** Makes the data folder of a server below a folder of the account of the servers. */
export function initServer(folder: string, superuser: string): void {
  const options = ['-U', superuser, '-A', 'trust', '-E', 'UTF8', '-N', '--no-locale'];
  execFileSync(join(BINARIES ?? '', 'initdb'), ['-D', join(folder, 'data'), ...options], {
    ...account(),
    cwd: '/',
    stdio: 'ignore',
  });
}

/** Starts it; resolves when it accepts connections. */
export async function startServer(
  folder: string,
  settings: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(join(BINARIES ?? '', 'postgres'), ['-D', join(folder, 'data'), ...options], {
    ...account(),
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await printed(child, 'ready to accept connections');
  return child;
}

/** Waits for a text on standard error, which is read to its end: a full pipe would stop the program. */
async function printed(child: ChildProcess, text: string): Promise<void> {
  let said = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-10_000);
    if (said.includes(text)) resolve();
  });
  child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code}: ${said}`)));
  await promise;
}

function startPgBouncer(
  folder: string,
  primaryFolder: string,
  sessions: number,
): { url: string; child: ChildProcess } {
  const settings = [
    '[databases]',
    `* = host=${primaryFolder} port=5432`,
    '[pgbouncer]',
    `unix_socket_dir = ${folder}`,
    'listen_port = 5432',
    'pool_mode = transaction',
    'auth_type = trust',
    `auth_file = ${join(folder, 'users.txt')}`,
    `default_pool_size = ${sessions}`,
    'max_client_conn = 400',
  ];
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(file, `${settings.join('\n')}\n`);
  writeFileSync(join(folder, 'users.txt'), '"svc" ""\n');
  const child = spawn(programOf('pgbouncer') ?? '', [file], {
    ...account(),
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { url: urlOf(folder, 'svc', 'svc'), child };
}

const urlOf = (folder: string, role: string, database: string): string =>
  `postgresql://${role}@${encodeURIComponent(folder)}:5432/${database}`;

export async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** A folder of the account of the servers, which is not root. */
export function ownFolder(path: string): string {
  mkdirSync(path);
  const { uid, gid } = account();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  return path;
}

function account(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres']).toString());
  return { uid: id('-u'), gid: id('-g') };
}

/** Debian keeps them out of PATH, in a folder for each version, and may have no `pg_config`. */
function findBinaries(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((name) => /^\d+$/.test(name)) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a)).map((name) => join(DEBIAN, name, 'bin'));
  const { stdout } = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' });
  const folders = [...(stdout ? [stdout.trim()] : []), ...newestFirst];
  return folders.find((folder) => existsSync(join(folder, 'pg_basebackup'))) ?? null;
}

function programOf(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
