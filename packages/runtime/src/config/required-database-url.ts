import { ConfigError } from './config-error.ts';
import type { Config } from './load-config.ts';

/**
 * The URL of the PostgreSQL that the processes of the service share.
 *
 * @throws ConfigError `invalid_config` when it is not configured
 */
export function requiredDatabaseUrl({ databaseUrl }: Pick<Config, 'databaseUrl'>): string {
  if (databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is missing: only `npm start` runs its own database']);
  }
  return databaseUrl.reveal();
}
