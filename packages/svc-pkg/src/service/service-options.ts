import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';
import { createServiceClient, type ServiceClient } from './service-client.ts';

/** Where `npm start` listens. */
export const DEFAULT_API_URL = 'http://127.0.0.1:8080';
export const API_URL_VARIABLE = 'SVC_API_URL';
export const API_KEY_VARIABLE = 'SVC_API_KEY';

export interface ServiceOptions {
  readonly apiUrl?: string;
  /** The name of the variable with the key. */
  readonly apiKeyEnv?: string;
}

/**
 * A client for the service that the options and the environment name.
 *
 * @throws CliError `usage`
 */
export function openService(cli: Cli, options: ServiceOptions): ServiceClient {
  const url = options.apiUrl ?? nonEmpty(cli.env[API_URL_VARIABLE]) ?? DEFAULT_API_URL;
  return createServiceClient({
    url: parseServiceUrl(url, options.apiUrl === undefined ? API_URL_VARIABLE : '--api-url'),
    apiKey: secretFrom(cli, options.apiKeyEnv, API_KEY_VARIABLE, '--api-key-env'),
    userAgent: `svc-pkg/${cli.version}`,
    dispatcher: cli.dispatcher,
    signal: cli.signal,
  });
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
    throw new CliError('usage', `${source} must be an http or https URL without user, query and fragment`);
  }
  return url.href.replace(/(?<!\/)\/+$/, '');
}

/**
 * Reads a secret from the environment, because every user of a machine can list its command lines.
 *
 * @param name the variable that the user named; it must be set
 * @param fallback the variable to read otherwise
 */
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
    throw new CliError(
      'usage',
      `${option} names the environment variable ${JSON.stringify(name)}, which is not set`,
    );
  }
  // Other characters are not valid in a header and would fail later with a less clear error.
  if (!/^[\x21-\x7e]{1,512}$/.test(value)) {
    throw new CliError(
      'usage',
      `The environment variable ${variable} must hold 1 to 512 visible ASCII characters`,
    );
  }
  return value;
}

const nonEmpty = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
