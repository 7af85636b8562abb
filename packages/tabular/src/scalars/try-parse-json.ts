import { JsonlError, type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/** The value of a JSON text; undefined if the text is not JSON. */
export function tryParseJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonlError) return undefined;
    throw error;
  }
}

/** The value of a JSON text; a text that is not JSON stays a text. */
export function jsonOrText(text: string): JsonValue {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
