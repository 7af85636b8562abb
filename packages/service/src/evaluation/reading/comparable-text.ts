import type { JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from '../item/canonical-text.ts';

/** A JSON value as text to compare: in Unicode NFC (see {@link toNfc}), optionally trimmed and in lower case. */
export function comparableText(
  value: JsonValue,
  how: { readonly ignoreCase: boolean; readonly trim: boolean },
): string {
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

/** The engine searches for a needle up to this length: at worst it compares this often per character. */
const MAX_PLAIN_NEEDLE_CHARS = 16;

/**
 * The indexes at which a text has `needle`, overlapping ones too, in linear time (Knuth, Morris and Pratt). The engine's
 * `indexOf` takes the product of both lengths for a needle such as `a…aba…a`, which is days for two texts of a megabyte.
 *
 * @param needle not empty
 */
export function* occurrences(text: string, needle: string): Generator<number> {
  if (needle.length > text.length) return;
  if (needle.length <= MAX_PLAIN_NEEDLE_CHARS) {
    for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) yield at;
    return;
  }
  const borders = bordersOf(needle);
  let matched = 0;
  for (let position = 0; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    while (matched > 0 && needle.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === code) matched += 1;
    if (matched < needle.length) continue;
    yield position - matched + 1;
    matched = borders[matched - 1] ?? 0;
  }
}

/** For each prefix of the needle, the length of its longest proper prefix that is also a suffix. */
function bordersOf(needle: string): Int32Array {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let position = 1; position < needle.length; position += 1) {
    const code = needle.charCodeAt(position);
    while (length > 0 && needle.charCodeAt(length) !== code) length = borders[length - 1] ?? 0;
    if (needle.charCodeAt(length) === code) length += 1;
    borders[position] = length;
  }
  return borders;
}
