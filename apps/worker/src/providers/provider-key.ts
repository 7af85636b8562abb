import { RunError } from '@svc/evaluation';
import type { ProviderKeys } from '@svc/service';

/**
 * The key in the environment variable that a run names, if it may be sent to the run's provider: each key is bound to
 * its origins.
 *
 * @returns the key; null if the run names none; an error, which ends the run, if it must not be sent
 */
export function providerKey(
  name: string | null,
  baseUrl: string,
  keys: ProviderKeys,
): string | null | RunError {
  if (name === null) return null;
  const found = Object.hasOwn(keys, name) ? keys[name] : undefined;
  if (found === undefined) {
    return new RunError('provider_key_missing', `The worker has no environment variable ${name}.`, {
      endsRun: true,
    });
  }
  const { origin } = new URL(baseUrl);
  if (!found.origins.includes(origin)) {
    return new RunError('provider_unauthorized', `The key in ${name} must not be sent to ${origin}.`, {
      endsRun: true,
    });
  }
  return found.key.reveal();
}
