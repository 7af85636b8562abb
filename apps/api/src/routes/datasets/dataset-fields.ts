import { RequestError, type Schema } from '@svc/runtime';

/** PostgreSQL text holds no NUL, and half of a surrogate pair is no character: such names are refused, not changed. */
const TEXT = '^[^\\u0000\\p{Cs}]*$';

/** A dataset's name: 1 to 255 characters, not blank. */
export const NAME: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^(?=[^\\u0000]*\\S)[^\\u0000\\p{Cs}]*$',
};

/** A description or notes; null stands for none. */
export const OPTIONAL_TEXT: Schema = { type: ['string', 'null'], maxLength: 65_536, pattern: TEXT };

/**
 * The name field of an upload form, under the rules of {@link NAME}.
 *
 * @throws RequestError `invalid_request`
 */
export function parseName(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const isValid = name.trim() !== '' && [...name].length <= 255 && !name.includes('\u0000');
  if (isValid) return name;
  const message = 'name must have 1 to 255 characters and must not be blank';
  throw new RequestError('invalid_request', message, { errors: [{ message, path: 'name' }] });
}
