import { ExactNumber, type JsonValue } from '@svc/jsonl-v23/json';

/** The members of an object by name, or the elements of an array by index; empty for any other value. */
export function membersOf(value: JsonValue | undefined): Iterable<[string | number, JsonValue]> {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return [];
  return Array.isArray(value) ? value.entries() : Object.entries(value);
}
