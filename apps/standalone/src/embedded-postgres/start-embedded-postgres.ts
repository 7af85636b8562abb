import { chmod, mkdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openSocketFolder, SERVICE, urlOf } from './connection.ts';
import { initialise, ownPassword, readPassword } from './initialise.ts';
import { EmbeddedPostgresError, explain, type Layout, layoutOf } from './layout.ts';
import { type ServerPlan, stopOrphan } from './ownership.ts';
import { choosePostgresAccount, firstBarredFolder } from './postgres-account.ts';
import { findPostgresBinaries, type PostgresBinaries, reachableBinaries } from './postgres-binaries.ts';
import { type Account, pause, startGuard } from './processes.ts';
import { type StartedServer, startServer, stopServer } from './start-server.ts';

export interface EmbeddedPostgresOptions {
  /** The service's data folder; the server uses `postgres` in it. */
  readonly dataDir: string;
  /** Settings of the server that extend or replace the defaults, such as `{ shared_buffers: '1GB' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Ends the start at any stage and leaves nothing running. */
  readonly signal?: AbortSignal;
}

export type EmbeddedPostgres = ReturnType<typeof withOwner>;

const START_TIMEOUT_MS = 60_000;

/**
 * Starts the PostgreSQL server that the package contains, and creates its folder and database if they do not exist.
 * The server listens on a socket in a folder that only its account can enter; on Windows on a free port of the loopback
 * interface, where both sides authenticate by SCRAM.
 *
 * A server that a killed process left behind is stopped first; a server of a live process is an error. When this process
 * dies, during the start or later, everything that it started is stopped.
 *
 * @throws EmbeddedPostgresError with one sentence that names the problem; the reason of `signal` when it aborts
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const signal = options.signal ?? new AbortController().signal;
  signal.throwIfAborted();
  const layout = layoutOf(resolve(options.dataDir));
  await mkdir(layout.dataDir, { recursive: true }).catch((cause: Error) => {
    throw new EmbeddedPostgresError(
      `Cannot create the data folder ${layout.dataDir}: ${cause.message}.`,
      cause,
    );
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
  // a restored copy may have other permissions
  await chmod(layout.folder, 0o700).catch(() => undefined);

  const superuserPassword = await superuserPasswordOf(layout);
  const servicePassword = await ownPassword(layout.servicePassword, account).catch((cause: unknown) => {
    throw new EmbeddedPostgresError(explain(String(cause), layout), cause);
  });
  const settings = options.settings ?? {};
  const plan: ServerPlan = {
    ...{ layout, binaries, account, guard, socketFolder, nameOf, settings },
    ...{ superuserPassword, servicePassword, signal },
  };
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    await stopOrphan({ ...plan, deadline });
    signal.throwIfAborted();
    const started = await startServer(plan);
    if (started !== 'taken') {
      const running = starting.move();
      return withOwner(plan, started, () => running.disposeAsync());
    }
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresError(`Another process keeps starting a database in ${layout.folder}.`);
    }
    await pause(50, signal);
  }
}

/** A folder that the account cannot reach from the root is the server's working directory, for which Linux has a name. */
async function folderNames(layout: Layout, account: Account | null): Promise<ServerPlan['nameOf']> {
  const barred = account && (await firstBarredFolder(account, [layout.data]));
  if (barred === null) return (folder) => folder;
  if (process.platform === 'linux' && (await stat('/proc/self/cwd').catch(() => null)) !== null) {
    return () => '/proc/self/cwd';
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL does not run as root, and its account cannot enter ${barred}: ` +
      'start the service as an ordinary user, or choose a data folder (SVC_DATA_DIR) that every user can enter.',
  );
}

async function checkVersion(layout: Layout, binaries: PostgresBinaries): Promise<void> {
  const found = (
    await readFile(join(layout.data, 'PG_VERSION'), 'utf8').catch((cause: unknown) => {
      throw new EmbeddedPostgresError(explain(String(cause), layout), cause);
    })
  ).trim();
  if (found !== binaries.majorVersion) {
    throw new EmbeddedPostgresError(
      `${layout.folder} was created by PostgreSQL ${found}, but this version of the service runs ${binaries.majorVersion}: ` +
        'export the datasets with the older version and import them into a new data folder.',
    );
  }
}

async function superuserPasswordOf(layout: Layout): Promise<string> {
  const unreadable = `Cannot read the password of the database, ${layout.superuserPassword}.`;
  const found = await readPassword(layout.superuserPassword).catch((cause: unknown) => {
    throw new EmbeddedPostgresError(unreadable, cause);
  });
  if (found === null) throw new EmbeddedPostgresError(unreadable);
  return found;
}

function withOwner(plan: ServerPlan, started: StartedServer, free: () => Promise<void>) {
  const { child, ended, owner, endpoint } = started;
  (owner as unknown as { unref(): void }).unref();
  child.unref();
  const freed = ended.then(free).catch(() => undefined);
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      await stopServer(child, ended, plan);
      await freed;
      await owner.end().catch(() => undefined);
    })();
    return stopping;
  };
  return {
    /** Connection URL of the service's database, for an ordinary role that owns it. */
    url: urlOf(endpoint, { user: SERVICE, password: plan.servicePassword, database: SERVICE }),
    /** The account that the server runs under if this process is root; null if both use the same account. */
    account: plan.account,
    /** Resolves when the server ends, whether it was stopped or died. */
    ended,
    /** Stops the server cleanly: open transactions are rolled back. Safe to call twice. */
    stop,
    [Symbol.asyncDispose]: stop,
  };
}
