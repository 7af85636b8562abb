import type { Cli } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';

const VARIABLE = 'DATABASE_URL';

/**
 * The database that an option names, else the environment.
 *
 * @throws CliError `usage`; the URL itself is not repeated, it may hold a password
 */
export function databaseUrl(cli: Cli, option: string | undefined): string {
  const url = option ?? cli.env[VARIABLE] ?? '';
  const source = option === undefined ? VARIABLE : '--database-url';
  if (url === '')
    throw new CliError('usage', `Name a database with --database-url or the variable ${VARIABLE}`);
  if (!/^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new CliError('usage', `${source} must be a postgresql:// URL`);
  }
  return url;
}
