import { CliError } from 'svc-pkg';

type CliErrorCode = CliError['code'];

/** SQLSTATE (PostgreSQL, appendix A), or the code of Prisma for the same → the error of the command line. */
const BY_CODE: Readonly<Record<string, CliErrorCode>> = {
  '28P01': 'database_refused',
  '28000': 'database_refused',
  P1000: 'database_refused',
  P1010: 'database_refused',
  '3D000': 'database_not_found',
  P1003: 'database_not_found',
  '42P01': 'database_not_migrated',
  '42703': 'database_not_migrated',
  P2021: 'database_not_migrated',
  P2022: 'database_not_migrated',
};

const MESSAGES: Partial<Record<CliErrorCode, string>> = {
  database_refused: 'Cannot log in to the database: check the user and the password.',
  database_not_found: 'Cannot open the database: the server has none of this name.',
  database_not_migrated: 'Cannot read the database: its schema is older. Run `svc-pkg migrate`.',
};

/** How far an error is followed to the one of the server. */
const MAX_CAUSES = 5;

/** The error of the command line for what a person can repair in a database; any other error as it is. */
export function toDatabaseError(error: unknown): unknown {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === 'object' && cause !== null; depth += 1) {
    const { code, originalCode, meta } = cause as {
      code?: unknown;
      originalCode?: unknown;
      meta?: { driverAdapterError?: unknown };
    };
    const known = BY_CODE[String(originalCode)] ?? BY_CODE[String(code)];
    if (known !== undefined) return new CliError(known, MESSAGES[known] ?? '', { cause: error });
    cause = meta?.driverAdapterError ?? (cause as { cause?: unknown }).cause;
  }
  return error;
}
