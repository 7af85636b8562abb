import { ConfigError } from './config-error.ts';
import type { Config } from './load-config.ts';

/**
 * The URL of the PostgreSQL that a part of the service shares with the others.
 *
 * @throws ConfigError where it is not configured
 */
export function requiredDatabaseUrl({ databaseUrl }: Pick<Config, 'databaseUrl'>): string {
  if (databaseUrl === undefined) {
    throw new ConfigError(['DATABASE_URL is missing: only `npm start` brings a database of its own']);
  }
  return databaseUrl.reveal();
}
