import { RequestError, type Schema } from '@svc/runtime';

/** Control characters of Unicode: C0, delete and C1. */
const CONTROL = '\\u0000-\\u001f\\u007f-\\u009f';
/** Blanks other than control characters. */
const BLANK = ' \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff';

/**
 * A dataset's name: 1 to 255 characters, not blank, without control characters. The pattern has neither look-ahead nor
 * property classes, which the regular expressions of other languages do not know.
 */
export const NAME: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: `^[${BLANK}]*[^${BLANK}${CONTROL}][^${CONTROL}]*$`,
  'x-rule': 'must not be blank, and must have no control characters',
  format: 'storable-text',
};

/** A description or notes; null for none. */
export const OPTIONAL_TEXT: Schema = {
  type: ['string', 'null'],
  maxLength: 65_536,
  pattern: '^[^\\u0000]*$',
  'x-rule': 'must hold no NUL',
  format: 'storable-text',
};

const NAME_PATTERN = new RegExp(NAME['pattern'] as string, 'u');

/**
 * The name field of an upload form, under the rules of {@link NAME}.
 *
 * @throws RequestError `invalid_request`
 */
export function parseName(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  if ([...name].length <= 255 && name.isWellFormed() && NAME_PATTERN.test(name)) return name;
  const message = 'name must have 1 to 255 characters, not all of them blank, and no control characters.';
  throw new RequestError('invalid_request', message, { errors: [{ message, path: 'name' }] });
}
