import type { JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from '../item/canonical-text.ts';

/** How texts are normalized before they are compared. */
export interface TextComparison {
  readonly ignoreCase: boolean;
  readonly trim: boolean;
}

/** A JSON value as text to compare: in Unicode NFC (see {@link toNfc}), optionally trimmed and in lower case. */
export function comparableText(value: JsonValue, how: TextComparison): string {
  const text = toNfc(plainText(value)).replaceAll('\r\n', '\n');
  const trimmed = how.trim ? text.trim() : text;
  return how.ignoreCase ? trimmed.toLowerCase() : trimmed;
}

/** Normalizing takes quadratic time in the number of marks of a base character. */
const MANY_MARKS = /\p{M}{65}/u;

/**
 * Text in Unicode NFC. A text with over 64 combining marks in a row, which no language has (Unicode's stream-safe format
 * allows 30), stays unchanged: normalizing 100,000 of them takes tens of seconds.
 */
export function toNfc(text: string): string {
  return MANY_MARKS.test(text) ? text : text.normalize('NFC');
}
