import type { SourceLocation } from '@svc/jsonl-v23';
import { MAX_UNREAD_REASONS, type UnreadRow } from '@svc/jsonl-v23/imports';

/**
 * Every way in which reading a table fails. `type_changed`: a value does not fit the type that the first rows gave its
 * column, so open the file again and take the types from all rows.
 */
export type TableErrorCode =
  | 'invalid_row'
  | 'column_not_found'
  | 'damaged_file'
  | 'unsupported_file'
  | 'too_large'
  | 'type_changed'
  | 'invalid_name';

export interface TableErrorOptions {
  readonly location?: SourceLocation;
  readonly cause?: unknown;
}

const TABLE_ERROR: unique symbol = Symbol.for('@svc/tabular.TableError');

/**
 * The one error of this package. `code` is stable, `location` is the place in a file. The message is one sentence for
 * people, without the location. Errors of a byte source are thrown as they are.
 */
export class TableError extends Error {
  /** Recognises the class of every installed copy of this package: a dependency may bring another version. */
  static override [Symbol.hasInstance](value: unknown): value is TableError {
    return typeof value === 'object' && value !== null && TABLE_ERROR in value;
  }

  static {
    Object.defineProperty(TableError.prototype, TABLE_ERROR, { value: true });
  }

  readonly code: TableErrorCode;
  readonly location: SourceLocation | undefined;

  constructor(code: TableErrorCode, message: string, options: TableErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TableError';
    this.code = code;
    this.location = options.location && named(options.location);
  }
}

/** The error for a file that cannot be read. @param reason the end of a sentence, without its full stop */
export function unreadableFile(
  code: TableErrorCode,
  file: string,
  reason: string,
  cause?: unknown,
): TableError {
  return new TableError(code, `Cannot read the file: ${reason}.`, { location: { file }, cause });
}

function named({ file, ...location }: SourceLocation): SourceLocation {
  return file === undefined || file === '' ? location : { file, ...location };
}

/** Adds a row to the unreadable ones of a batch. @param reasonOf called only if the reason is kept */
export function addUnread(
  unread: Map<number, UnreadRow | null>,
  index: number,
  reasonOf: () => TableError,
): void {
  if (unread.size >= MAX_UNREAD_REASONS) {
    unread.set(index, null);
    return;
  }
  const { message, location = {} } = reasonOf();
  unread.set(index, { message, location });
}

/** A value in a message: quoted, and cut after `maxLength` characters. */
export function shorten(value: string, maxLength = 100): string {
  const characters = [...value.slice(0, maxLength * 2 + 2)];
  const text = characters.length > maxLength ? `${characters.slice(0, maxLength).join('')}…` : value;
  return JSON.stringify(text);
}

/** As many as a sheet of a spreadsheet: every row has all of them, and each column takes memory. */
const MAX_COLUMNS = 16_384;

/** @throws TableError `unsupported_file` for more columns than a table may have */
export function checkColumnCount(count: number): void {
  if (count <= MAX_COLUMNS) return;
  throw new TableError(
    'unsupported_file',
    `Cannot read the files: they have more than ${MAX_COLUMNS} columns.`,
  );
}

const MAX_WARNINGS = 100;

/** The first warnings about columns, and a sentence that counts the others. */
export function boundWarnings(warnings: readonly string[], ofMore: (count: number) => string): string[] {
  const more = warnings.length - MAX_WARNINGS;
  return more > 0 ? [...warnings.slice(0, MAX_WARNINGS), ofMore(more)] : [...warnings];
}
