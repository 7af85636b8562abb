import type { Place } from './source-location.ts';

/** Every code a `JsonlError` can carry. They are stable: code may branch on them. */
export type JsonlErrorCode =
  | 'invalid_json'
  | 'invalid_utf8'
  | 'duplicate_key'
  | 'nesting_too_deep'
  | 'number_too_long'
  | 'line_too_long'
  | 'not_an_object'
  | 'invalid_item'
  | 'invalid_asset'
  | 'column_not_found'
  | 'assets_not_object'
  | 'invalid_row'
  | 'invalid_mapping';

/**
 * The one error class of this package: what could not be done, with a stable `code` and, where it is known,
 * the `place` (file, line, column, JSON Pointer, row). The message holds no place; `formatPlace` prints it.
 */
export class JsonlError extends Error {
  override readonly name: string = 'JsonlError';
  readonly code: JsonlErrorCode;
  readonly place: Place;

  constructor(code: JsonlErrorCode, message: string, place: Place = {}, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.place = place;
  }
}
