import { parseItem, type SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { LostCounter } from './lost.ts';
import { memberOf, textOf } from './read-json.ts';

/** The member in which a file for another tool keeps the item that it was made from. */
export const OWN_ITEM = 'svc_item';

/**
 * The item that a row was made from, if it keeps one: what was written for a tool comes back as it was.
 *
 * @param row of the tool, or its metadata
 */
export function ownItem(row: JsonValue, lost: LostCounter, location: SourceLocation): JsonObject | null {
  const text = textOf(memberOf(row, OWN_ITEM));
  if (text === null) return null;
  try {
    const value = parseJson(text);
    if (isJsonObject(value)) return parseItem(value) as JsonObject;
  } catch {
    // It was changed since.
  }
  lost.add(`${OWN_ITEM} that is not an item`, location);
  return null;
}
