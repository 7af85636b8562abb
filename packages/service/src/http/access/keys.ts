import { randomBytes } from 'node:crypto';
import { type ApiKey, checkKeys, readKeysFile, stampOf } from '../../config/api-keys.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/load-config.ts';
import type { Logger } from '../../telemetry/create-logger.ts';
import { createSessions, type Sessions } from './sessions.ts';

/** The keys of the service. */
export interface Keys {
  /** Whether there are none, so that every caller can do everything. */
  readonly isOpen: boolean;
  /** The keys in force: the same array until their file changes. */
  current(): readonly ApiKey[];
  readonly sessions: Sessions;
}

/** How often the file is looked at, at most. */
const LOOK_MS = 1_000;

/**
 * Opens the keys of the configuration. If the file becomes unreadable or wrong, its last keys stay in force.
 *
 * @param logger says that the file has changed
 * @throws ConfigError for keys that exclude each other
 */
export function openKeys(
  { apiKeys, apiKeysFile, jobKey }: Pick<Config, 'apiKeys' | 'apiKeysFile' | 'jobKey'>,
  logger: Logger,
  now: () => number = () => performance.now(),
): Keys {
  let stamp = apiKeysFile?.stamp;
  let lookedAt = now();
  let keys: readonly ApiKey[];
  try {
    keys = checkKeys([...apiKeys, ...(apiKeysFile?.keys ?? [])]);
  } catch (error) {
    throw new ConfigError([`SVC_API_KEYS with SVC_API_KEYS_FILE ${(error as Error).message}`]);
  }

  function readAgain(path: string): void {
    let found: string | undefined;
    try {
      found = stampOf(path);
      if (found === stamp) return;
      const file = readKeysFile(path);
      keys = checkKeys([...apiKeys, ...file.keys]);
      logger.log('keys.read', { keys: keys.length });
    } catch (error) {
      // Logged once for each content.
      if (found === stamp) return;
      logger.log('keys.fail', {
        error: new Error(`Cannot read SVC_API_KEYS_FILE again: it ${(error as Error).message}.`),
      });
    }
    stamp = found;
  }

  const current = (): readonly ApiKey[] => {
    if (apiKeysFile !== null && now() - lookedAt >= LOOK_MS) {
      lookedAt = now();
      readAgain(apiKeysFile.path);
    }
    return keys;
  };
  return {
    isOpen: apiKeys.length === 0 && apiKeysFile === null,
    current,
    sessions: createSessions(current, jobKey?.reveal() ?? randomBytes(32).toString('hex')),
  };
}
