/** Normalisation reorders the marks of a base character in time that grows with the square of their number. */
const MANY_MARKS = /\p{M}{65}/u;

/**
 * Text in Unicode NFC. A text with over 64 combining marks in a row, which no language has (Unicode's stream-safe
 * format allows 30), stays as it is: to normalise 100,000 of them takes tens of seconds.
 */
export function toNfc(text: string): string {
  return MANY_MARKS.test(text) ? text : text.normalize('NFC');
}
