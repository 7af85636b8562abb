import { type ItemParts, joinItem } from '@svc/jsonl-v23';
import { JsonlError, type JsonValue, parseJson, skipValue } from '@svc/jsonl-v23/json';
import { StoreError } from './errors.ts';

/** Parses JSON text that the store keeps, however deep: its depth was limited before. @throws StoreError `corrupt` */
export function readStoredJson(text: string): JsonValue {
  try {
    return parseJson(text, { maxDepth: Number.POSITIVE_INFINITY });
  } catch (error) {
    throw toCorrupt(error);
  }
}

/** The canonical text of a stored item. @throws StoreError `corrupt` */
export function joinStoredItem(parts: ItemParts): string {
  try {
    return joinItem(parts);
  } catch (error) {
    throw toCorrupt(error);
  }
}

/** An error of reading stored texts: `corrupt` if the text is damaged, any other error unchanged. */
export function toCorrupt(error: unknown): unknown {
  if (!(error instanceof JsonlError)) return error;
  return new StoreError('corrupt', 'Cannot read stored JSON: the text is damaged.', { cause: error });
}

/** The members of an object, from its canonical text: the JSON text of each value, with every digit, by its key. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (let start = 1; start < text.length - 1; ) {
    const keyEnd = skipValue(text, start);
    const quoted = text.slice(start, keyEnd);
    const end = skipValue(text, keyEnd + 1);
    members.set(
      quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1),
      text.slice(keyEnd + 1, end),
    );
    start = end + 1;
  }
  return members;
}
