/** Why bytes of a Parquet file cannot be decoded, as the end of a sentence. It names no file and quotes no bytes. */
export class ParquetError extends Error {
  /** Whether the bytes may be right and are only more, or of another kind, than this decoder takes. */
  readonly isUnsupported: boolean;

  constructor(reason: string, options: { isUnsupported?: boolean; cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ParquetError';
    this.isUnsupported = options.isUnsupported ?? false;
  }
}

/** The bytes end before what they announce; more of them may follow in the file. */
export class EndOfBytesError extends ParquetError {
  constructor(what: string) {
    super(`${what} reaches beyond the end of its bytes`);
    this.name = 'EndOfBytesError';
  }
}

/** An error for bytes that contradict themselves or the format. */
export function damaged(reason: string, cause?: unknown): ParquetError {
  return new ParquetError(reason, { cause });
}

/** An error for bytes that are not decoded here. */
export function unsupported(reason: string): ParquetError {
  return new ParquetError(reason, { isUnsupported: true });
}
