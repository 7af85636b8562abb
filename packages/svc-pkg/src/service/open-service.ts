import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  API_KEY_VARIABLE,
  API_URL_VARIABLE,
  type Cli,
  type CliContext,
  DEFAULT_API_URL,
} from '../cli-context.ts';
import { usageError, withFileErrors } from '../errors/cli-error.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

export interface ServiceOptions {
  readonly apiUrl?: string;
  readonly apiKeyEnv?: string;
}

export function openService(cli: Cli, options: ServiceOptions): ServiceClient {
  const url = serviceUrl(cli, options);
  const named = secretFrom(cli, options.apiKeyEnv, API_KEY_VARIABLE, '--api-key-env');
  return createServiceClient(cli, url, named ?? readCredentials(cli).keys[url]);
}

/** The URL of the service that an option, the environment or the last login names. @throws CliError `usage` */
export function serviceUrl(cli: Cli, { apiUrl }: Pick<ServiceOptions, 'apiUrl'>): string {
  const variable = nonEmpty(cli.env[API_URL_VARIABLE]);
  const url = apiUrl ?? variable ?? readCredentials(cli).default_url ?? DEFAULT_API_URL;
  return parseServiceUrl(url, apiUrl === undefined ? API_URL_VARIABLE : '--api-url');
}

/** An http or https URL without user, query and fragment; removes slashes at the end. */
function parseServiceUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (
    url === null ||
    !isHttp ||
    url.username !== '' ||
    url.password !== '' ||
    url.search !== '' ||
    url.hash !== ''
  ) {
    throw usageError(`${source} must be an http or https URL without user, query and fragment`);
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/** Reads a secret from the environment, because every user of a machine can list its command lines. */
export function secretFrom(
  cli: Cli,
  name: string | undefined,
  fallback: string | undefined,
  option: string,
): string | undefined {
  const variable = name ?? fallback;
  const value = variable === undefined ? undefined : nonEmpty(cli.env[variable]);
  if (value === undefined) {
    if (name === undefined) return undefined;
    throw usageError(`${option} names the environment variable ${JSON.stringify(name)}, which is not set`);
  }
  return checkSecret(value, `The environment variable ${variable}`);
}

/** @throws CliError `usage` for characters that are not valid in a header, which would fail later with a less clear error */
export function checkSecret(value: string, what: string): string {
  if (/^[\x21-\x7e]{1,512}$/.test(value)) return value;
  throw usageError(`${what} must hold 1 to 512 visible ASCII characters`);
}

const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);

interface Credentials {
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

/** Replaces the file, which only its owner can read. */
export async function writeCredentials(environment: Environment, credentials: Credentials): Promise<string> {
  const path = credentialsPath(environment);
  const folder = dirname(path);
  await withFileErrors('write', path, () => mkdir(folder, { recursive: true, mode: 0o700 }));
  const { createOutputFile } = await import('../output/output-file.ts');
  await using file = await createOutputFile(path, { force: true, mode: 0o600 });
  await file.write(Buffer.from(`${JSON.stringify(credentials, null, 2)}\n`));
  await file.commit();
  return path;
}
