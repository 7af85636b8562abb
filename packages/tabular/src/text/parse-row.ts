import type { SourceLocation } from '@svc/jsonl-v23';
import { JsonlError, type JsonValue, parseJson } from '@svc/jsonl-v23/json';

/** The value of a row of JSON. */
export interface ParsedRow {
  readonly value: JsonValue;
  /** JSON that means the value: the given text, with null for what is not a number. */
  readonly text: string;
  /** How many `NaN` and infinities the row has. */
  readonly nonNumbers: number;
}

/**
 * Parses a row. `NaN`, `Infinity` and `-Infinity`, which many programs write although JSON has no such values, become null.
 *
 * @throws JsonlError as `parseJson` does; without a column if the row has such values before
 */
export function parseRow(text: string, location: SourceLocation = {}): ParsedRow {
  try {
    return { value: parseJson(text, { location }), text, nonNumbers: 0 };
  } catch (error) {
    const { text: replaced, nonNumbers } = withoutNonNumbers(text);
    if (nonNumbers === 0) throw error;
    try {
      return { value: parseJson(replaced, { location }), text: replaced, nonNumbers };
    } catch (inner) {
      if (!(inner instanceof JsonlError)) throw inner;
      const { column: _, ...rest } = inner.location;
      throw new JsonlError(inner.code, inner.message, rest);
    }
  }
}

/** The text with null in place of every such word that is not in a string. Takes linear time. */
function withoutNonNumbers(text: string): { text: string; nonNumbers: number } {
  let inString = false;
  let nonNumbers = 0;
  const replaced = text.replace(/\\.|"|NaN|-?Infinity/gs, (token) => {
    if (token === '"') inString = !inString;
    if (inString || /["\\]/.test(token)) return token;
    nonNumbers += 1;
    return 'null';
  });
  return { text: replaced, nonNumbers };
}
