import { readFileSync } from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { CliContext } from '../cli-context.ts';
import { toFileError } from '../errors/file-error.ts';

/** Keys of services by their URLs, and the service of the last login. */
export interface Credentials {
  readonly default_url?: string;
  readonly keys: Readonly<Record<string, string>>;
}

type Environment = Pick<CliContext, 'env' | 'platform'>;

/** The file in the user's configuration folder (XDG Base Directory; `%APPDATA%` on Windows). */
function credentialsPath({ env, platform }: Environment): string {
  const folder =
    platform === 'win32'
      ? (env['APPDATA'] ?? join(homeOf(env), 'AppData', 'Roaming'))
      : (env['XDG_CONFIG_HOME'] ?? join(homeOf(env), '.config'));
  return join(folder, 'svc-pkg', 'credentials.json');
}

const homeOf = (env: Environment['env']): string => env['HOME'] ?? env['USERPROFILE'] ?? homedir();

/** What earlier logins stored; nothing if there is no readable file. */
export function readCredentials(environment: Environment): Credentials {
  try {
    const found: unknown = JSON.parse(readFileSync(credentialsPath(environment), 'utf8'));
    if (typeof found !== 'object' || found === null) return { keys: {} };
    const { default_url: url, keys } = found as { default_url?: unknown; keys?: unknown };
    const entries = typeof keys === 'object' && keys !== null ? Object.entries(keys) : [];
    return {
      ...(typeof url === 'string' && { default_url: url }),
      keys: Object.fromEntries(
        entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      ),
    };
  } catch {
    return { keys: {} };
  }
}

/**
 * Replaces the file, which only its owner can read.
 *
 * @throws CliError `io_error`
 */
export async function writeCredentials(environment: Environment, credentials: Credentials): Promise<string> {
  const path = credentialsPath(environment);
  const temporary = `${path}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(temporary, { force: true });
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(credentials, null, 2)}\n`);
    } finally {
      await file.close();
    }
    await chmod(temporary, 0o600);
    await rename(temporary, path);
    return path;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw toFileError(error, 'write', path);
  }
}
