import type { JsonValue } from '@svc/jsonl-v23/json';
import { plainText } from '../item/plain-text.ts';
import { toNfc } from './to-nfc.ts';

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
