import { operatorMessage, StoreError } from '@svc/store';
import { CliError } from 'svc-pkg';

/** The error of the command line for what a person can repair in a database; any other error as it is. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof StoreError) || error.reason === undefined) return error;
  const message = operatorMessage(error);
  switch (error.reason) {
    case 'refused':
      return new CliError(isUnknown(error) ? 'database_not_found' : 'database_refused', message, {
        cause: error,
      });
    case 'tls':
      return new CliError('database_refused', message, { cause: error });
    case 'not_migrated':
      return new CliError('database_not_migrated', message, { cause: error });
    default:
      return new StoreError(error.code, message, { reason: error.reason, cause: error });
  }
}

/** SQLSTATE of a database that the server does not have. */
const UNKNOWN_DATABASE = '3D000';

function isUnknown(error: Error): boolean {
  const { cause } = error as { cause?: { code?: unknown } & Error };
  return cause !== undefined && (cause.code === UNKNOWN_DATABASE || isUnknown(cause));
}
