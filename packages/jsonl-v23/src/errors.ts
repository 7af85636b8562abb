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
