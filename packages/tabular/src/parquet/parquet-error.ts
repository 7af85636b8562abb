import { TableError, type TableErrorCode } from '../errors.ts';

/** Why bytes of a Parquet file cannot be decoded, as the end of a sentence. It names no file and quotes no bytes. */
export class ParquetError extends Error {
  /** `unsupported_file` if the bytes may be valid, but are too many or of a kind that this decoder does not support. */
  readonly code: TableErrorCode;

  constructor(reason: string, options: { code?: TableErrorCode; cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ParquetError';
    this.code = options.code ?? 'damaged_file';
  }
}

/** The bytes end too early; more of them may follow in the file. */
export class EndOfBytesError extends ParquetError {
  constructor(what: string) {
    super(`${what} reaches beyond the end of its bytes`);
    this.name = 'EndOfBytesError';
  }
}

export function damaged(reason: string, cause?: unknown): ParquetError {
  return new ParquetError(reason, { cause });
}

export function unsupported(reason: string): ParquetError {
  return new ParquetError(reason, { code: 'unsupported_file' });
}

/** Whatever `step` throws becomes a `TableError`. @param locate the place in the file, as the beginning of a reason */
export function translateErrors<T>(file: string, step: () => T, locate?: () => string): T {
  try {
    return step();
  } catch (error) {
    throw toTableError(error, file, locate);
  }
}

const MAX_REASON_LENGTH = 300;

export function toTableError(error: unknown, file: string, locate: () => string = () => ''): TableError {
  if (error instanceof TableError) return error;
  // The messages of the runtime say nothing about a file.
  const { code, message } =
    error instanceof ParquetError ? error : damaged('its parts contradict each other');
  const reason = `${locate()}${message}`.slice(0, MAX_REASON_LENGTH);
  const location = { file };
  return new TableError(code, `Cannot read the Parquet file: ${reason}.`, { location, cause: error });
}
