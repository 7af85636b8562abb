import type { SourceLocation } from '@svc/jsonl-v23';
import { JsonlError, type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/** The value of a row of JSON. */
export interface ParsedRow {
  readonly value: JsonValue;
  /** JSON that means the value: the given text, or that with null for what is not a number. */
  readonly text: string;
  /** Whether the row has `NaN` or an infinity. */
  readonly hasNonNumbers: boolean;
}

/**
 * Parses a row. `NaN`, `Infinity` and `-Infinity`, which many programs write although JSON has no such values, become null.
 *
 * @throws JsonlError as `parseJson` does; without a column if the row has such values before
 */
export function parseRow(text: string, location: SourceLocation = {}): ParsedRow {
  try {
    return { value: parseJson(text, { location }), text, hasNonNumbers: false };
  } catch (error) {
    const replaced = withoutNonNumbers(text);
    if (replaced === text) throw error;
    try {
      return { value: parseJson(replaced, { location }), text: replaced, hasNonNumbers: true };
    } catch (inner) {
      if (!(inner instanceof JsonlError)) throw inner;
      const { column: _, ...rest } = inner.location;
      throw new JsonlError(inner.code, inner.message, rest);
    }
  }
}

/** The text with null in place of every such word that is not in a string. Takes linear time. */
function withoutNonNumbers(text: string): string {
  let inString = false;
  return text.replace(/\\.|"|NaN|-?Infinity/gs, (token) => {
    if (token === '"') inString = !inString;
    return inString || /["\\]/.test(token) ? token : 'null';
  });
}
