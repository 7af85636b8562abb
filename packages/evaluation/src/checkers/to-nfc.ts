/** Normalizing takes quadratic time in the number of marks of a base character. */
const MANY_MARKS = /\p{M}{65}/u;

/**
 * Text in Unicode NFC. A text with over 64 combining marks in a row, which no language has (Unicode's stream-safe format
 * allows 30), stays unchanged: normalizing 100,000 of them takes tens of seconds.
 */
export function toNfc(text: string): string {
  return MANY_MARKS.test(text) ? text : text.normalize('NFC');
}
