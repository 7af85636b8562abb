import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StoreError } from './errors.ts';
import { choosePostgresAccount, ownerForAccount, type PostgresAccount } from './postgres-account.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';

export interface EmbeddedPostgresOptions {
  /** folder of the service's data; the server lives in `postgres` below it */
  readonly dataDir: string;
  /** settings of the server beside or instead of {@link SERVER_SETTINGS}, e.g. `{ shared_buffers: '1GB' }` */
  readonly settings?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A running server that belongs to this process alone. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** connection URL of the service's database, with its password */
  readonly url: string;
  /** settles when the server ends, whether it was stopped or died */
  readonly ended: Promise<void>;
  /** Stops the server cleanly: open transactions are rolled back. Safe to call twice. */
  stop(): Promise<void>;
}

/**
 * Settings of the embedded server, which serves one service on one machine.
 * @see https://www.postgresql.org/docs/18/runtime-config.html
 */
const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '100',
  shared_buffers: '256MB',
  // an import writes gigabytes at once: fewer checkpoints, fewer full pages in the log
  max_wal_size: '2GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '15min',
  wal_compression: 'on',
  // nothing replicates from it
  wal_level: 'minimal',
  max_wal_senders: '0',
  // compiling a plan costs more than our statements take
  jit: 'off',
  // /dev/shm of a container is often 64 MB
  enable_parallel_hash: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // rows and statements hold prompts and answers: they stay out of the log
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
};

const SUPERUSER = 'postgres';
const DATABASE = 'svc';
/** Held by the process that owns the server, on a connection of its own: the kernel closes it when the process dies. */
const OWNER_LOCK = 5_267_718;
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

interface Layout {
  readonly folder: string;
  readonly data: string;
  readonly password: string;
  readonly log: string;
}

/**
 * Starts the PostgreSQL server that comes with the package, and makes its folder and database where they are
 * missing. It listens on a free port of the loopback interface, with a random password that is kept in a file
 * only its owner can read.
 *
 * A server that a killed process left behind is stopped first; one that belongs to a living process is
 * an error. When this process dies, its server is told to stop.
 *
 * @throws StoreError `embedded_postgres` with one sentence on what is wrong; whatever `signal` was aborted with
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const layout = layoutOf(resolve(options.dataDir));
  const binaries = await findPostgresBinaries();
  await mkdir(dirname(layout.folder), { recursive: true }).catch((cause: unknown) => {
    throw failure(`The data folder ${dirname(layout.folder)} cannot be created.`, cause);
  });
  const account = await choosePostgresAccount(layout.data, [layout.data, dirname(binaries.postgres)]);
  await initialise(layout, binaries, account);
  await checkVersion(layout, binaries);

  const password = await readPassword(layout);
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    options.signal?.throwIfAborted();
    await stopOrphan(layout, password, deadline);
    const started = await startServer(layout, binaries, account, password, options);
    if (started !== 'taken') return started;
    if (performance.now() > deadline)
      throw failure(`Another process keeps starting a database in ${layout.folder}.`);
    await delay(50);
  }
}

function layoutOf(dataDir: string): Layout {
  const folder = join(dataDir, 'postgres');
  return {
    folder,
    data: join(folder, 'data'),
    password: join(folder, 'password'),
    log: join(folder, 'server.log'),
  };
}

function failure(message: string, cause?: unknown): StoreError {
  return new StoreError('embedded_postgres', message, cause === undefined ? undefined : { cause });
}

// --- the folder ---------------------------------------------------------------------------------------------

/**
 * Makes the server's folder under another name and renames it when it is complete: a process that is killed
 * meanwhile leaves nothing that looks like a database, and of two processes one wins.
 */
async function initialise(
  layout: Layout,
  binaries: PostgresBinaries,
  account: PostgresAccount,
): Promise<void> {
  if (await exists(join(layout.data, 'PG_VERSION'))) return;
  const content = await readdir(layout.folder).catch(() => []);
  if (content.length > 0) {
    throw failure(`${layout.folder} holds no complete database: move it away, or restore it from a copy.`);
  }
  await removeAbandoned(layout);

  const temporary = `${layout.folder}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  const made: Layout = {
    folder: temporary,
    data: join(temporary, 'data'),
    password: join(temporary, 'password'),
    log: join(temporary, 'server.log'),
  };
  try {
    await mkdir(temporary, { mode: 0o700 });
    await writeFile(made.password, randomBytes(24).toString('base64url'), { mode: 0o600 });
    const owner = await ownerForAccount(account);
    if (owner !== null) {
      await chown(temporary, owner.uid, owner.gid);
      await chown(made.password, owner.uid, owner.gid);
    }
    const outcome = await runToEnd(
      account,
      binaries.initdb,
      [
        ...['--pgdata', made.data, '--username', SUPERUSER, '--pwfile', made.password],
        ...['--auth', 'scram-sha-256', '--encoding', 'UTF8'],
        // case folding of all of Unicode, code point order, and the same on every machine
        ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
      ],
      temporary,
    );
    if (outcome.code !== 0) throw failure(explain(outcome.output, layout), new Error(outcome.output));
    await rename(temporary, layout.folder).catch(async (cause: unknown) => {
      if (await exists(join(layout.data, 'PG_VERSION'))) return; // another process was faster
      throw cause;
    });
  } catch (cause) {
    throw cause instanceof StoreError ? cause : failure(explain(String(cause), layout), cause);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Folders of initialisations that were killed; a living one takes seconds, not minutes. */
async function removeAbandoned(layout: Layout): Promise<void> {
  const parent = dirname(layout.folder);
  for (const name of await readdir(parent)) {
    if (!name.startsWith('postgres.new-')) continue;
    const path = join(parent, name);
    const age = Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? Date.now());
    if (age > 10 * 60_000) await rm(path, { recursive: true, force: true });
  }
}

async function checkVersion(layout: Layout, binaries: PostgresBinaries): Promise<void> {
  const found = (
    await readFile(join(layout.data, 'PG_VERSION'), 'utf8').catch((cause: unknown) => {
      throw failure(explain(String(cause), layout), cause);
    })
  ).trim();
  if (found !== binaries.majorVersion) {
    throw failure(
      `${layout.folder} was made by PostgreSQL ${found}, this version of the service runs ${binaries.majorVersion}: ` +
        'export the datasets with the older version and import them into a new data folder.',
    );
  }
}

async function readPassword(layout: Layout): Promise<string> {
  try {
    return (await readFile(layout.password, 'utf8')).trim();
  } catch (cause) {
    throw failure(`The password of the database, ${layout.password}, cannot be read.`, cause);
  }
}

// --- a server that is already there --------------------------------------------------------------------------

interface RunningServer {
  readonly pid: number;
  readonly port: number;
}

/**
 * Stops the server of a process that died; a stale pid file whose number belongs to another program by now is
 * removed, because the server would take that program for a server.
 */
async function stopOrphan(layout: Layout, password: string, deadline: number): Promise<void> {
  for (;;) {
    const running = await findRunningServer(layout);
    if (running === null) return;
    const client = await connect(running.port, password, 'postgres').catch(() => null);
    if (client !== null) {
      try {
        const { rows } = await client.query<{ owned: boolean }>('SELECT pg_try_advisory_lock($1) AS owned', [
          OWNER_LOCK,
        ]);
        if (rows[0]?.owned !== true) {
          throw failure(`Another process is using the database in ${layout.folder}.`);
        }
        process.kill(running.pid, 'SIGINT');
        await waitForEnd(running.pid, deadline);
      } finally {
        await client.end().catch(() => undefined);
      }
      return;
    }
    // starting, recovering or stopping: ask again
    if (performance.now() > deadline) {
      throw failure(
        `A database server (process ${running.pid}) holds ${layout.folder} and does not answer: stop it first.`,
      );
    }
    await delay(100);
  }
}

async function findRunningServer(layout: Layout): Promise<RunningServer | null> {
  const path = join(layout.data, 'postmaster.pid');
  const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return null; // the server removes a stale file itself
  if (!(await isServerOf(pid, layout))) {
    await rm(path, { force: true });
    return null;
  }
  return { pid, port: Number(lines[3]) };
}

/** Whether a process is the server of this folder: servers work in their data folder. */
async function isServerOf(pid: number, layout: Layout): Promise<boolean> {
  if (process.platform === 'linux') {
    const folder = await readlink(`/proc/${pid}/cwd`).catch((error: NodeJS.ErrnoException) => error.code);
    // another user's process tells us nothing, and our server is never another user's
    return folder === (await realpath(layout.data));
  }
  if (process.platform === 'win32') return true;
  const { output } = await runToEnd(
    { user: null, prefix: [] },
    'ps',
    ['-p', String(pid), '-o', 'args='],
    '/',
  );
  return output.includes('postgres');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function waitForEnd(pid: number, deadline: number): Promise<void> {
  while (isAlive(pid)) {
    if (performance.now() > deadline) throw failure(`The database server (process ${pid}) does not stop.`);
    await delay(20);
  }
}

// --- starting and stopping -----------------------------------------------------------------------------------

async function startServer(
  layout: Layout,
  binaries: PostgresBinaries,
  account: PostgresAccount,
  password: string,
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres | 'taken'> {
  const port = await freePort();
  const settings = Object.entries({ ...SERVER_SETTINGS, ...options.settings });
  const log = await openLog(layout, account);
  const logStart = (await log.stat()).size;
  await chmod(layout.data, 0o700).catch(() => undefined);
  const child = spawnAs(
    account,
    binaries.postgres,
    [
      '-D',
      layout.data,
      '-p',
      String(port),
      ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    {
      cwd: layout.data,
      // a session of its own: Ctrl-C is for the service, which stops the server after its own work
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    },
  );
  await log.close();
  const ended = new Promise<void>((done) => {
    child.once('error', () => done());
    child.once('exit', () => done());
  });
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });

  let owner: pg.Client | null = null;
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (owner === null) {
    if (hasEnded) {
      const output = await readLogFrom(layout, logStart);
      if (/lock file .{0,1024} already exists|could not bind/.test(output)) return 'taken';
      throw failure(explain(output, layout), new Error(output));
    }
    if (options.signal?.aborted === true || performance.now() > deadline) {
      await stopChild(child, ended, binaries, layout, account);
      options.signal?.throwIfAborted();
      throw failure(`The database in ${layout.folder} did not start within ${START_TIMEOUT_MS / 1000} s.`);
    }
    owner = await connect(port, password, 'postgres').catch(() => null);
    if (owner === null) await Promise.race([delay(15), ended]);
  }

  const held = owner;
  try {
    const { rows } = await held.query<{ owned: boolean }>('SELECT pg_try_advisory_lock($1) AS owned', [
      OWNER_LOCK,
    ]);
    // another process found our server before we could claim it, and stops it
    if (rows[0]?.owned !== true) {
      await held.end().catch(() => undefined);
      await ended;
      return 'taken';
    }
    const found = await held.query('SELECT 1 FROM pg_database WHERE datname = $1', [DATABASE]);
    if (found.rowCount === 0) await held.query(`CREATE DATABASE ${DATABASE}`);
  } catch (cause) {
    await held.end().catch(() => undefined);
    await stopChild(child, ended, binaries, layout, account);
    throw failure(explain(await readLogFrom(layout, logStart), layout), cause);
  }
  (held as unknown as { unref(): void }).unref();
  child.unref();
  const guard = guardAgainstDeath(child, account);

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      await stopChild(child, ended, binaries, layout, account);
      guard?.kill('SIGKILL');
      await held.end().catch(() => undefined);
    })();
    return stopping;
  };
  void ended.then(() => guard?.kill('SIGKILL'));
  return {
    url: `postgresql://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    ended,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Fast shutdown: open transactions are rolled back, then a checkpoint; a server that hangs is ended hard. */
async function stopChild(
  child: ChildProcess,
  ended: Promise<void>,
  binaries: PostgresBinaries,
  layout: Layout,
  account: PostgresAccount,
): Promise<void> {
  if (process.platform === 'win32') {
    await runToEnd(account, binaries.pg_ctl, ['stop', '-D', layout.data, '-m', 'fast', '-w'], layout.data);
  } else {
    child.kill('SIGINT');
  }
  const timeout = new AbortController();
  await Promise.race([
    ended,
    delay(STOP_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
  ]);
  timeout.abort();
  child.kill('SIGKILL');
  await ended;
}

/**
 * Stops the server when this process dies in whatever way: a shell waits for the end of its input, which
 * this process holds open. Windows has no such shell; there the next start stops the server.
 */
function guardAgainstDeath(server: ChildProcess, account: PostgresAccount): ChildProcess | null {
  if (process.platform === 'win32' || server.pid === undefined) return null;
  const guard = spawnAs(account, 'sh', ['-c', 'read -r _; kill -INT "$0"', String(server.pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.once('error', () => undefined);
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return guard;
}

async function openLog(layout: Layout, account: PostgresAccount): Promise<Awaited<ReturnType<typeof open>>> {
  const size = (await stat(layout.log).catch(() => null))?.size ?? 0;
  const log = await open(layout.log, size > MAX_LOG_BYTES ? 'w' : 'a', 0o600).catch((cause: unknown) => {
    throw failure(explain(String(cause), layout), cause);
  });
  const owner = await ownerForAccount(account);
  if (owner !== null) await log.chown(owner.uid, owner.gid);
  return log;
}

async function readLogFrom(layout: Layout, start: number): Promise<string> {
  const bytes = await readFile(layout.log).catch(() => Buffer.alloc(0));
  return bytes.subarray(start).toString('utf8');
}

/** One sentence for what PostgreSQL or the file system said. */
function explain(output: string, layout: Layout): string {
  if (/No space left on device|ENOSPC/.test(output)) {
    return `There is no space left for the database in ${layout.folder}.`;
  }
  if (
    /wrong ownership|must be started by the user that owns|[Pp]ermission denied|EACCES|EPERM/.test(output)
  ) {
    return `The database folder ${layout.folder} belongs to another user or may not be written.`;
  }
  if (/EROFS|[Rr]ead-only file system/.test(output)) return `The folder ${layout.folder} is read-only.`;
  if (/could not create shared memory|Cannot allocate memory/.test(output)) {
    return 'There is not enough memory for the embedded database server.';
  }
  if (/error while loading shared libraries|GLIBC|ENOENT/.test(output)) {
    return 'The PostgreSQL programs in the package do not run on this system: name a database by DATABASE_URL instead.';
  }
  if (
    /invalid (?:primary )?checkpoint|could not locate a valid checkpoint|could not find the database system|is not a database cluster/.test(
      output,
    )
  ) {
    return `The database in ${layout.folder} is damaged: restore it from a copy.`;
  }
  const last = output.match(/(?:FATAL|PANIC|initdb: error): {1,2}(.+)/)?.[1];
  return `The embedded database server does not start: ${last ?? `its log is ${layout.log}`}.`;
}

// --- small things --------------------------------------------------------------------------------------------

async function connect(port: number, password: string, database: string): Promise<pg.Client> {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: SUPERUSER,
    password,
    database,
    connectionTimeoutMillis: 5_000,
    application_name: 'svc-owner',
  });
  client.on('error', () => undefined); // its end is seen by the process's own
  await client.connect();
  return client;
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const server = createServer();
    server.once('error', fail);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

interface SpawnOptions {
  readonly cwd: string;
  readonly detached?: boolean;
  readonly stdio: ('ignore' | 'pipe' | number)[];
}

function spawnAs(
  account: PostgresAccount,
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const [first = program, ...rest] = [...account.prefix, program, ...args];
  return spawn(first, rest, {
    ...options,
    ...(account.user === null ? {} : account.user),
    // messages in English, whatever the user's language: explain() reads them
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', SystemRoot: process.env['SystemRoot'] },
  });
}

function runToEnd(
  account: PostgresAccount,
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const child = spawnAs(account, program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const add = (text: string): void => {
      output += text;
    };
    child.stdout?.setEncoding('utf8').on('data', add);
    child.stderr?.setEncoding('utf8').on('data', add);
    child.once('error', (error) => done({ code: null, output: `${output}${error.message}` }));
    child.once('close', (code) => done({ code, output }));
  });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
