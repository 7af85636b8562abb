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
    if (!(error instanceof JsonlError && error.code === 'invalid_json')) throw error;
    const replaced = withoutNonNumbers(text);
    if (replaced === text) throw error;
    const { column: _, ...start } = location;
    try {
      return { value: parseJson(replaced, { location: start }), text: replaced, hasNonNumbers: true };
    } catch (inner) {
      if (!(inner instanceof JsonlError)) throw inner;
      const { column: _column, ...rest } = inner.location;
      throw new JsonlError(inner.code, inner.message, rest);
    }
  }
}

/** The text with null in place of every such word that is not in a string. Takes linear time. */
function withoutNonNumbers(text: string): string {
  const next = /["NI]/g;
  const inString = /["\\]/g;
  let result = '';
  let copied = 0;
  for (let match = next.exec(text); match !== null; match = next.exec(text)) {
    const { index } = match;
    if (match[0] === '"') {
      inString.lastIndex = index + 1;
      let end = inString.exec(text);
      while (end?.[0] === '\\') {
        inString.lastIndex = end.index + 2;
        end = inString.exec(text);
      }
      if (end === null) break;
      next.lastIndex = end.index + 1;
      continue;
    }
    const word = match[0] === 'N' ? 'NaN' : 'Infinity';
    if (!text.startsWith(word, index)) continue;
    const hasSign = word === 'Infinity' && text[index - 1] === '-';
    result += `${text.slice(copied, hasSign ? index - 1 : index)}null`;
    copied = index + word.length;
    next.lastIndex = copied;
  }
  return result + text.slice(copied);
}
