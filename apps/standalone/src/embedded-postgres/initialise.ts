import { randomBytes } from 'node:crypto';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { SUPERUSER } from './connection.ts';
import { EmbeddedPostgresError, explain, type Layout, layoutOf } from './layout.ts';
import { isAlive, type ServerPlan } from './ownership.ts';
import { type Account, killGroup, outcomeOf } from './processes.ts';

type InitialiseOptions = Pick<ServerPlan, 'layout' | 'binaries' | 'account' | 'guard' | 'nameOf' | 'signal'>;

const making = new Set<string>();

/** An initialisation takes seconds. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/**
 * Creates the server's folder under a temporary name and renames it when it is complete: a killed process leaves nothing
 * that looks like a database, and of two concurrent processes one wins. Removes the folders of killed processes.
 */
export async function initialise(options: InitialiseOptions): Promise<void> {
  const { layout, account, signal } = options;
  await removeAbandoned(layout);
  if (await isComplete(layout)) return;
  const content = await readdir(layout.folder).catch(() => []);
  if (content.length > 0) {
    throw new EmbeddedPostgresError(
      `${layout.folder} does not contain a complete database: move it away, or restore it from a copy.`,
    );
  }

  const name = `${basename(layout.folder)}.new-${process.pid}-${randomBytes(4).toString('hex')}`;
  const made = layoutOf(layout.dataDir, name);
  making.add(name);
  try {
    await mkdir(made.data, { recursive: true, mode: 0o700 });
    for (const folder of [made.folder, made.data]) await giveTo(account, folder);
    await writePassword(made.superuserPassword, account);
    signal.throwIfAborted();
    await runInitdb(made, options);
    await rename(made.folder, layout.folder).catch(async (cause: unknown) => {
      if (await isComplete(layout)) return; // a concurrent process was faster
      throw cause;
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw cause instanceof EmbeddedPostgresError
      ? cause
      : new EmbeddedPostgresError(explain(String(cause), layout), cause);
  } finally {
    await rm(made.folder, { recursive: true, force: true });
    making.delete(name);
  }
}

async function runInitdb(made: Layout, options: InitialiseOptions): Promise<void> {
  const { binaries, guard, signal, layout } = options;
  const child = guard.spawn(
    binaries.initdb,
    [
      ...['--pgdata', options.nameOf(made.data), '--username', SUPERUSER, '--pwfile', '../password'],
      ...['--auth', 'scram-sha-256', '--encoding', 'UTF8'],
      // Unicode case folding, code point order, and the same on every machine
      ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
    ],
    { cwd: made.data, stdio: ['pipe', 'pipe'] },
    'KILL',
  );
  const kill = (): void => killGroup(child);
  signal.addEventListener('abort', kill);
  const { code, output } = await outcomeOf(child);
  signal.removeEventListener('abort', kill);
  guard.clear();
  signal.throwIfAborted();
  if (code !== 0) throw new EmbeddedPostgresError(explain(output, layout), new Error(output));
}

async function removeAbandoned(layout: Layout): Promise<void> {
  for (const name of await readdir(layout.dataDir)) {
    const pid = Number(/^postgres\.new-(\d+)-/.exec(name)?.[1]);
    if (Number.isNaN(pid) || making.has(name)) continue;
    const path = join(layout.dataDir, name);
    const ageMs = Date.now() - ((await stat(path).catch(() => null))?.mtimeMs ?? Date.now());
    // process ids start again in every container
    const isOthers = pid !== process.pid && isAlive(pid);
    if (!isOthers || ageMs > ABANDONED_AFTER_MS) await rm(path, { recursive: true, force: true });
  }
}

async function isComplete(layout: Layout): Promise<boolean> {
  return (await stat(join(layout.data, 'PG_VERSION')).catch(() => null)) !== null;
}

/** Reads the password of a role from its file, which is created if it does not exist. */
export async function ownPassword(path: string, account: Account | null): Promise<string> {
  return (await readPassword(path)) ?? (await writePassword(path, account));
}

/** Null when the file does not exist or holds no password. Throws when it cannot be read. */
export async function readPassword(path: string): Promise<string | null> {
  try {
    const text = (await readFile(path, 'utf8')).trim();
    return /^[\w-]{16,}$/.test(text) ? text : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writePassword(path: string, account: Account | null): Promise<string> {
  const password = randomBytes(24).toString('base64url');
  await rm(path, { force: true });
  // root must not follow a link that the account created here
  const file = await open(path, 'wx', 0o600);
  try {
    if (account !== null) await file.chown(account.uid, account.gid);
    await file.writeFile(password);
    await file.sync();
  } finally {
    await file.close();
  }
  return password;
}

async function giveTo(account: Account | null, path: string): Promise<void> {
  if (account !== null) await chown(path, account.uid, account.gid);
}
