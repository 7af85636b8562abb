import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { migrate } from '../src/migrate/migrate.ts';
import { queryDatabase } from './query-database.ts';

/** The programs of an installed PostgreSQL; the embedded one lacks `pg_basebackup`. */
const BINARIES = findBinaries();
/** Says what a machine lacks for tests with a server of its own; undefined if it lacks nothing. */
export const NO_CLUSTER: string | undefined =
  BINARIES === null ? 'this machine has no pg_basebackup of an installed PostgreSQL' : undefined;
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
  run('initdb', [
    '-D',
    join(primaryFolder, 'data'),
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '-N',
    '--no-locale',
  ]);
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
      await responded(pooler.url, pooler.child);
      return pooler.url;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function createServer(folder: string, settings: Readonly<Record<string, string>>): ClusterServer {
  let child: ChildProcess | undefined;
  const all = { ...settings, unix_socket_directories: folder };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const superuserUrl = urlOf(folder, 'postgres', 'svc');
  return {
    url: urlOf(folder, 'svc', 'svc'),
    query: (sql) => queryDatabase(superuserUrl, sql),
    async kill() {
      if (child !== undefined) await endOf(child, 'SIGQUIT');
    },
    async start() {
      child = spawn(join(BINARIES ?? '', 'postgres'), ['-D', join(folder, 'data'), ...options], {
        ...account(),
        cwd: folder,
        stdio: 'ignore',
      });
      await responded(urlOf(folder, 'postgres', 'postgres'), child);
    },
  };
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
  const child = spawn(programOf('pgbouncer') ?? '', [file], { ...account(), cwd: folder, stdio: 'ignore' });
  return { url: urlOf(folder, 'svc', 'svc'), child };
}

const urlOf = (folder: string, role: string, database: string): string =>
  `postgresql://${role}@${encodeURIComponent(folder)}:5432/${database}`;

async function responded(url: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const error = await queryDatabase(url, 'SELECT 1').then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error === null) return;
    if (attempt > 600 || child.exitCode !== null) throw error;
    await delay(50);
  }
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

/** A folder of the account of the servers, which is not root. */
function ownFolder(path: string): string {
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

function run(program: string, args: readonly string[]): void {
  execFileSync(join(BINARIES ?? '', program), [...args], { ...account(), cwd: '/', stdio: 'ignore' });
}

function findBinaries(): string | null {
  try {
    const folder = execFileSync('pg_config', ['--bindir'], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim();
    return existsSync(join(folder, 'pg_basebackup')) ? folder : null;
  } catch {
    return null;
  }
}

function programOf(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}
