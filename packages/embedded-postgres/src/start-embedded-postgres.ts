import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, type FileHandle, mkdir, open, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { connect, isWrongPassword, MAINTENANCE_DATABASE, SERVICE, SUPERUSER } from './connection/connect.ts';
import {
  type Endpoint,
  freePort,
  openSocketFolder,
  SOCKET_PORT,
  type SocketFolder,
  urlOf,
} from './connection/endpoint.ts';
import { EmbeddedPostgresError } from './embedded-postgres-error.ts';
import { explain } from './explain.ts';
import { initialise, ownPassword, readPassword } from './initialise.ts';
import { failure, type Layout, layoutOf } from './layout.ts';
import { tryOwnerLock } from './ownership/owner-lock.ts';
import { readPostmasterFile } from './ownership/postmaster.ts';
import { stopOrphan, wrongPassword } from './ownership/stop-orphan.ts';
import { findPostgresBinaries, type PostgresBinaries, reachableBinaries } from './postgres-binaries.ts';
import { prepareDatabase, setPassword } from './prepare-database.ts';
import { type Guard, pause, startGuard } from './process/guard.ts';
import { type Account, choosePostgresAccount, firstBarredFolder } from './process/postgres-account.ts';
import { runToEnd } from './process/spawn-as.ts';
import { SERVER_SETTINGS } from './server-settings.ts';

export interface EmbeddedPostgresOptions {
  /** folder of the service's data; the server lives in `postgres` below it */
  readonly dataDir: string;
  /** settings of the server beside or instead of the usual ones, e.g. `{ shared_buffers: '1GB' }` */
  readonly settings?: Readonly<Record<string, string>>;
  /** ends the start, at whatever stage, and leaves nothing running */
  readonly signal?: AbortSignal;
}

/** A running server that belongs to this process alone. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** connection URL of the service's database, as an ordinary role that owns it */
  readonly url: string;
  /** the account that the server runs under, when this process is root; null: that of this process */
  readonly account: Account | null;
  /** settles when the server ends, whether it was stopped or died */
  readonly ended: Promise<void>;
  /** Stops the server cleanly: open transactions are rolled back. Safe to call twice. */
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 60_000;
const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Everything that is known before the server is started. */
interface Plan {
  readonly layout: Layout;
  readonly binaries: PostgresBinaries;
  readonly account: Account | null;
  readonly guard: Guard;
  readonly socketFolder: SocketFolder;
  /** how the server names a folder that it works in */
  readonly nameOf: (folder: string) => string;
  readonly settings: Readonly<Record<string, string>>;
  readonly superuserPassword: string;
  readonly servicePassword: string;
  readonly signal: AbortSignal;
}

/**
 * Starts the PostgreSQL server that comes with the package, and makes its folder and database where they are missing.
 * It listens on a socket in a folder that its account alone may enter; on Windows on a free port of the loopback
 * interface, where both sides log in by SCRAM.
 *
 * A server that a killed process left behind is stopped first; one that belongs to a living process is an error. When
 * this process dies, at whatever moment of the start or later, what it has started is told to stop.
 *
 * @throws EmbeddedPostgresError with one sentence on what is wrong; whatever `signal` was aborted with
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const signal = options.signal ?? new AbortController().signal;
  signal.throwIfAborted();
  const layout = layoutOf(resolve(options.dataDir));
  await mkdir(layout.dataDir, { recursive: true }).catch((cause: unknown) => {
    throw failure(`The data folder ${layout.dataDir} cannot be created.`, cause);
  });
  const account = await choosePostgresAccount(layout.data);
  const binaries = await reachableBinaries(await findPostgresBinaries(), account);
  const nameOf = await folderNames(layout, account);

  await using starting = new AsyncDisposableStack();
  const socketFolder = starting.use(await openSocketFolder(layout, account));
  const guard = startGuard(account, layout.dataDir, socketFolder.isTemporary ? socketFolder.path : '');
  starting.defer(() => guard.close());
  await initialise({ layout, binaries, account, guard, nameOf, signal });
  await checkVersion(layout, binaries);
  // a copy may have been put back with other rights
  await chmod(layout.folder, 0o700).catch(() => undefined);

  const superuserPassword = await superuserPasswordOf(layout);
  const servicePassword = await ownPassword(layout.servicePassword, account).catch((cause: unknown) => {
    throw failure(explain(String(cause), layout), cause);
  });
  const settings = options.settings ?? {};
  const plan: Plan = {
    ...{ layout, binaries, account, guard, socketFolder, nameOf, settings },
    ...{ superuserPassword, servicePassword, signal },
  };
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    await stopOrphan({ layout, password: superuserPassword, deadline, signal });
    signal.throwIfAborted();
    const started = await startServer(plan);
    if (started !== 'taken') {
      const running = starting.move();
      return withOwner(plan, started, () => running.disposeAsync());
    }
    if (performance.now() > deadline) {
      throw failure(`Another process keeps starting a database in ${layout.folder}.`);
    }
    await pause(50, signal);
  }
}

/**
 * How the server is told of its folders. One that its account may not reach from the root is handed over open, as the
 * folder that the server works in: Linux has a name for that.
 */
async function folderNames(layout: Layout, account: Account | null): Promise<Plan['nameOf']> {
  const barred = account && (await firstBarredFolder(account, [layout.data]));
  if (barred === null) return (folder) => folder;
  if (process.platform === 'linux' && (await stat('/proc/self/cwd').catch(() => null)) !== null) {
    return () => '/proc/self/cwd';
  }
  throw failure(
    `PostgreSQL does not run as root, and the account it runs under may not enter ${barred}: ` +
      'start the service as an ordinary user, or choose a data folder (SVC_DATA_DIR) that every user may enter.',
  );
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

async function superuserPasswordOf(layout: Layout): Promise<string> {
  const unreadable = `The password of the database, ${layout.superuserPassword}, cannot be read.`;
  const found = await readPassword(layout.superuserPassword).catch((cause: unknown) => {
    throw failure(unreadable, cause);
  });
  if (found === null) throw failure(unreadable);
  return found;
}

// --- the server ------------------------------------------------------------------------------------------------

/** A server that runs, and the connection that holds it for this process. */
interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  readonly owner: pg.Client;
  readonly endpoint: Endpoint;
}

/** `taken`: another process was faster, or its server is about to end. */
async function startServer(plan: Plan): Promise<Started | 'taken'> {
  const { layout, signal } = plan;
  const port = process.platform === 'win32' ? await freePort() : SOCKET_PORT;
  const endpoint = { port, socketFolder: process.platform === 'win32' ? null : plan.socketFolder.path };
  const log = await openLog(layout, plan.account);
  const logStart = (await log.stat()).size;
  const child = spawnServer(plan, port, log);
  await log.close();
  let hasEnded = false;
  const ended = new Promise<void>((done) => {
    child.once('error', () => done());
    child.once('exit', () => done());
  }).then(() => {
    hasEnded = true;
  });

  try {
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!hasEnded && !(await isReady(layout, child))) {
      signal.throwIfAborted();
      if (performance.now() > deadline) {
        throw failure(`The database in ${layout.folder} did not start within ${START_TIMEOUT_MS / 1000} s.`);
      }
      await Promise.race([pause(15, signal), ended]);
    }
    const owner = hasEnded ? null : await takeServer(plan, endpoint);
    signal.throwIfAborted();
    if (owner !== null) return { child, ended, owner, endpoint };
    // another process found our server before we could claim it, and stops it; or it has ended by itself
    await Promise.race([ended, pause(STOP_TIMEOUT_MS, signal)]);
    await stopChild(child, ended, plan);
    plan.guard.clear();
  } catch (cause) {
    if (!signal.aborted) await Promise.race([ended, pause(200, signal)]);
    const isDead = hasEnded;
    await stopChild(child, ended, plan);
    signal.throwIfAborted();
    if (!isDead) throw cause;
    throw failure(explain(await readLogFrom(layout, logStart), layout), cause);
  }
  const output = await readLogFrom(layout, logStart);
  if (child.exitCode === 0 || IS_TAKEN.test(output)) return 'taken';
  throw failure(explain(output, layout), new Error(output));
}

/** What a server says whose folder, socket, memory or port another one has. */
const IS_TAKEN = /(?:postmaster\.pid|\.lock)" already exists|could not bind|pre-existing shared memory block/;

/** Whether our server takes connections. It says so in its folder, where no other can: nothing is sent to a stranger. */
async function isReady(layout: Layout, child: ChildProcess): Promise<boolean> {
  const file = await readPostmasterFile(layout);
  return file?.isReady === true && file.pid === child.pid;
}

function spawnServer(plan: Plan, port: number, log: FileHandle): ChildProcess {
  const { layout, binaries, socketFolder } = plan;
  const data = plan.nameOf(layout.data);
  // Names with blanks and commas are quoted in this list. A folder handed over open has no path; its parent has one.
  const folder =
    data === layout.data || socketFolder.isTemporary ? `"${socketFolder.path.replaceAll('"', '""')}"` : '..';
  const listening =
    process.platform === 'win32'
      ? { listen_addresses: '127.0.0.1', unix_socket_directories: '' }
      : { listen_addresses: '', unix_socket_directories: folder, unix_socket_permissions: '0700' };
  const settings = Object.entries({ ...listening, ...SERVER_SETTINGS, ...plan.settings });
  return plan.guard.spawn(
    binaries.postgres,
    ['-D', data, '-p', String(port), ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { cwd: layout.data, stdio: [log.fd, log.fd] },
    'INT',
  );
}

/**
 * Makes the server ours: prepares the database as the superuser, then holds the owner's lock as the ordinary role.
 *
 * @returns null when another process claims it
 */
async function takeServer(plan: Plan, endpoint: Endpoint): Promise<pg.Client | null> {
  const login = { user: SUPERUSER, password: plan.superuserPassword, database: MAINTENANCE_DATABASE };
  const superuser = await connect(endpoint, login).catch((cause: unknown) => {
    throw isWrongPassword(cause) ? wrongPassword(plan.layout, cause) : cause;
  });
  const asService = (): Promise<pg.Client> =>
    connect(endpoint, { ...login, user: SERVICE, password: plan.servicePassword });
  let owner: pg.Client;
  try {
    if (!(await tryOwnerLock(superuser))) return null;
    await prepareDatabase(superuser, plan.servicePassword, async (run) => {
      const client = await connect(endpoint, { ...login, database: SERVICE });
      await run(client).finally(() => client.end());
    });
    owner = await asService().catch(async (cause: unknown) => {
      if (!isWrongPassword(cause)) throw cause;
      await setPassword(superuser, plan.servicePassword);
      return await asService();
    });
  } finally {
    await superuser.end().catch(() => undefined);
  }
  // In between another start may have claimed the server; it then stops it.
  if (await tryOwnerLock(owner)) return owner;
  await owner.end().catch(() => undefined);
  return null;
}

function withOwner(plan: Plan, started: Started, free: () => Promise<void>): EmbeddedPostgres {
  const { child, ended, owner, endpoint } = started;
  (owner as unknown as { unref(): void }).unref();
  child.unref();
  const freed = ended.then(free).catch(() => undefined);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      await stopChild(child, ended, plan);
      await freed;
      await owner.end().catch(() => undefined);
    })();
    return stopping;
  };
  return {
    url: urlOf(endpoint, SERVICE, plan.servicePassword, SERVICE),
    account: plan.account,
    ended,
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Fast shutdown: sessions end, transactions are rolled back, a checkpoint is written. */
async function stopChild(child: ChildProcess, ended: Promise<void>, plan: Plan): Promise<void> {
  const { layout, binaries } = plan;
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  if (process.platform === 'win32') {
    // there Node's SIGINT would end the process at once
    await runToEnd(binaries.pg_ctl, ['stop', '-D', layout.data, '-m', 'fast', '-w'], layout.data);
  } else {
    child.kill('SIGINT');
  }
  const timeout = new AbortController();
  await Promise.race([ended, pause(STOP_TIMEOUT_MS, timeout.signal)]);
  timeout.abort();
  child.kill('SIGKILL');
  await ended;
}

// --- its log ---------------------------------------------------------------------------------------------------

async function openLog(layout: Layout, account: Account | null): Promise<FileHandle> {
  const size = (await stat(layout.log).catch(() => null))?.size ?? 0;
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants;
  // Root must not follow a link that the account of the server has laid here. Windows has no such flag.
  const flags = O_WRONLY | O_CREAT | O_APPEND | (constants.O_NOFOLLOW ?? 0);
  try {
    const log = await open(layout.log, size > MAX_LOG_BYTES ? flags | O_TRUNC : flags, 0o600);
    const found = await log.stat();
    if (!found.isFile() || found.nlink !== 1) {
      await log.close();
      throw failure(`${layout.log} is no ordinary file: remove it.`);
    }
    if (account !== null) await log.chown(account.uid, account.gid);
    return log;
  } catch (cause) {
    throw cause instanceof EmbeddedPostgresError ? cause : failure(explain(String(cause), layout), cause);
  }
}

async function readLogFrom(layout: Layout, start: number): Promise<string> {
  const bytes = await readFile(layout.log).catch(() => Buffer.alloc(0));
  return bytes.subarray(start).toString('utf8');
}
