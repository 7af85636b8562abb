import type { SourceLocation } from '@svc/jsonl-v23';

/** Every way in which reading a table fails. */
export type TableErrorCode = 'invalid_row' | 'damaged_file' | 'unsupported_file';

/** What a `TableError` may have besides its message. */
export interface TableErrorOptions {
  readonly location?: SourceLocation;
  readonly cause?: unknown;
}

/**
 * The one error of this package. `code` is stable, `location` is the place in a file. The message is one sentence for
 * people, without the location. Errors of a byte source are thrown as they are.
 */
export class TableError extends Error {
  readonly code: TableErrorCode;
  readonly location: SourceLocation | undefined;

  constructor(code: TableErrorCode, message: string, options: TableErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TableError';
    this.code = code;
    this.location = options.location;
  }
}

/** A value in a message: quoted, and cut after `maxLength` characters. */
export function shorten(value: string, maxLength = 100): string {
  const characters = [...value.slice(0, maxLength * 2 + 2)];
  const text = characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : value;
  return JSON.stringify(text);
}
