/** The time to normalise the marks of a character grows with the square of their number. */
const MANY_MARKS = /\p{M}{65}/u;

/**
 * A name in a Unicode normal form. A name with more than 64 combining marks in a row is unchanged: to normalise 32,000
 * of them takes over a second, and no language needs more than 30 (Unicode's stream-safe format).
 */
export function normalForm(name: string, form: 'NFC' | 'NFD'): string {
  return MANY_MARKS.test(name) ? name : name.normalize(form);
}
