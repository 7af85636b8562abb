/** Normalisation reorders the marks of a base character in time that grows with the square of their number. */
const MANY_MARKS = /\p{M}{65}/u;

/**
 * A name in a Unicode normal form. One with over 64 combining marks in a row, which no language has (Unicode's
 * stream-safe format allows 30), stays as it is: to normalise 32,000 of them takes over a second.
 */
export function normalForm(name: string, form: 'NFC' | 'NFD'): string {
  return MANY_MARKS.test(name) ? name : name.normalize(form);
}
