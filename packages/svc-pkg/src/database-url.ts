import type { Cli } from './cli-context.ts';
import { CliError } from './errors/cli-error.ts';

const VARIABLE = 'DATABASE_URL';

/**
 * The database URL of an option, else of the environment.
 *
 * @throws CliError `usage`; the message does not repeat the URL, which may contain a password
 */
export function databaseUrl(cli: Cli, option: string | undefined): string {
  const url = option ?? cli.env[VARIABLE] ?? '';
  const source = option === undefined ? VARIABLE : '--database-url';
  if (url === '')
    throw new CliError('usage', `Name a database with --database-url or the variable ${VARIABLE}`);
  if (!/^postgres(ql)?:$/.test(URL.canParse(url) ? new URL(url).protocol : '')) {
    throw new CliError('usage', `${source} must be a postgresql:// URL`);
  }
  return url;
}
