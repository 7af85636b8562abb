import { given } from '../cli-context.ts';
import { CliError } from '../errors/cli-error.ts';

/** What the options of a command say of a change of a dataset. */
export interface ChangeOptions {
  readonly message?: string;
  readonly ifMatch?: string;
}

/**
 * The headers of a change. The message is a header, because bodies of changes differ.
 *
 * @throws CliError `usage`
 */
export function changeHeaders({ message, ifMatch }: ChangeOptions): Record<string, string> {
  if (ifMatch !== undefined && !/^[0-9a-f]{64}$/.test(ifMatch))
    throw new CliError('usage', '--if-match must be a version hash of 64 digits');
  return given({
    'If-Match': ifMatch === undefined ? undefined : `"${ifMatch}"`,
    'X-Version-Message': message === undefined ? undefined : encodeURIComponent(message.toWellFormed()),
  }) as Record<string, string>;
}
