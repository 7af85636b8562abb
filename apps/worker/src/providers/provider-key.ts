import { RunError } from '@svc/flows';
import type { ProviderEnvironment } from '@svc/process';

/**
 * The key that a run names by its environment variable. Beside `NAME` may stand `NAME_ORIGINS`, a comma list
 * of origins (`https://host`): the key is then sent to no other, whoever configures a run.
 *
 * @returns the key; null where the run names none; an error, which ends the run, where it cannot be sent
 */
export function providerKey(
  name: string | null,
  baseUrl: string,
  environment: ProviderEnvironment,
): string | null | RunError {
  if (name === null) return null;
  const key = Object.hasOwn(environment, name) ? (environment[name] ?? '').trim() : '';
  if (key === '') {
    return new RunError('provider_key_missing', `The worker has no environment variable ${name}`, {
      endsRun: true,
    });
  }
  // Beyond visible ASCII it could not stand in a header, and the error would show it.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return new RunError('provider_key_missing', `The environment variable ${name} holds no usable key`, {
      endsRun: true,
    });
  }
  const origins = environment[`${name}_ORIGINS`];
  const { origin } = new URL(baseUrl);
  if (origins !== undefined && !origins.split(',').some((allowed) => originOf(allowed.trim()) === origin)) {
    return new RunError('provider_unauthorized', `The key in ${name} may not be sent to ${origin}`, {
      endsRun: true,
    });
  }
  return key;
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
