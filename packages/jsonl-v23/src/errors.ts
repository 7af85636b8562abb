import type { SourceLocation } from './source-location.ts';

/** The codes of `JsonlError`. They are stable, so you can branch on them. */
export type JsonlErrorCode =
  | 'invalid_json'
  | 'invalid_utf8'
  | 'duplicate_key'
  | 'nesting_too_deep'
  | 'number_too_long'
  | 'line_too_long'
  | 'package_limit'
  | 'not_an_object'
  | 'invalid_item'
  | 'invalid_asset'
  | 'missing_file'
  | 'column_not_found'
  | 'assets_not_object'
  | 'invalid_row'
  | 'invalid_mapping';

const JSONL_ERROR: unique symbol = Symbol.for('@svc/jsonl-v23.JsonlError');

/**
 * The error class of this package, with a stable `code` and a `location`: file, line, column, JSON Pointer and row, as far
 * as they are known. The message does not repeat the location; `formatLocation` formats it.
 */
export class JsonlError extends Error {
  /** Recognises the class of every installed copy of this package: a dependency may bring another version. */
  static override [Symbol.hasInstance](value: unknown): value is JsonlError {
    return typeof value === 'object' && value !== null && JSONL_ERROR in value;
  }

  static {
    Object.defineProperty(JsonlError.prototype, JSONL_ERROR, { value: true });
  }

  override readonly name: string = 'JsonlError';
  readonly code: JsonlErrorCode;
  readonly location: SourceLocation;

  constructor(
    code: JsonlErrorCode,
    message: string,
    location: SourceLocation = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.code = code;
    this.location = location;
  }
}

/** An error with a stable code and a location. */
export interface LocatedError extends Error {
  readonly code: string;
  readonly location: SourceLocation;
}

/** Several errors that end one import. It has the code, message and location of the first. */
export class ImportErrors<E extends LocatedError> extends Error {
  override readonly name = 'ImportErrors';
  readonly code: E['code'];
  readonly location: SourceLocation;
  /** The first 100. */
  readonly errors: readonly E[];
  readonly total: number;

  constructor(first: E, errors: readonly E[], total: number) {
    super(first.message, { cause: first });
    this.code = first.code;
    this.location = first.location;
    this.errors = errors;
    this.total = total;
  }
}

/** Why a row cannot be read. */
export interface UnreadRow {
  readonly message: string;
  readonly location: SourceLocation;
}

/**
 * Rows of a batch that could not be read, by their index in the batch. Only the first {@link MAX_UNREAD_REASONS} have a
 * reason, the others null: every list of such rows is as long, and a file may have millions of them.
 */
export type UnreadRows = ReadonlyMap<number, UnreadRow | null>;

export const MAX_UNREAD_REASONS = 100;

/** For a row without a reason. */
export const NO_REASON: UnreadRow = { message: 'The row cannot be read.', location: {} };
