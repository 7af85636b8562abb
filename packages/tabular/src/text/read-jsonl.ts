import type { SourceLocation } from '@svc/jsonl-v23';
import { isJsonObject, JsonlError, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { linesOf, splitLines } from '@svc/jsonl-v23/lines';
import { TableError } from '../errors.ts';
import { createYielder } from '../source/turns.ts';
import { DEFAULT_MAX_ROW_SIZE, invalidRow, type RawRow, type TextOptions } from './raw-row.ts';

/**
 * Reads a JSON Lines file: one object a line, UTF-8. A byte order mark, CRLF, blank lines and a missing last line end
 * are accepted. `NaN` and infinities are null. One batch of lines is in memory.
 * @throws TableError `invalid_row` with file, line and, where it is known, column: if a line is not JSON, not
 *   an object, not UTF-8 or too long, or has a duplicate key
 */
export async function* readJsonl(
  source: AsyncIterable<Uint8Array>,
  options: TextOptions,
): AsyncGenerator<RawRow, void, undefined> {
  const { file, signal, maxRowSize: maxLineBytes = DEFAULT_MAX_ROW_SIZE, skipsInvalid = false } = options;
  const nextTurn = createYielder();
  try {
    for await (const batch of splitLines(source, { file, maxLineBytes, signal })) {
      for (const { line, bytes } of linesOf(batch)) {
        let row: RawRow | null;
        try {
          row = parseLine(bytes, { file, line });
        } catch (error) {
          if (!skipsInvalid || !(error instanceof JsonlError || error instanceof TableError)) throw error;
          const found =
            error instanceof JsonlError ? invalidRow(error.message, error.location, error) : error;
          row = { row: {}, line, size: bytes.length + 1, unread: () => found };
        }
        if (row !== null) yield row;
        const turn = nextTurn();
        if (turn !== undefined) await turn;
      }
    }
  } catch (error) {
    if (error instanceof JsonlError) throw invalidRow(error.message, error.location, error);
    throw error;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The row of a line; null for a blank one. */
function parseLine(bytes: Uint8Array, location: { file: string; line: number }): RawRow | null {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    const column = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).indexOf('\uFFFD') + 1;
    throw invalidRow('The line is not UTF-8.', { ...location, column }, cause);
  }
  // JSON's white space and no other.
  if (!/[^ \t\r]/.test(text)) return null;
  const row = parseRow(text, location);
  if (!isJsonObject(row.value)) throw invalidRow('The line is not an object.', location);
  const { text: parsed, nonNumbers } = row;
  return { row: row.value, line: location.line, size: text.length + 1, text: parsed, nonNumbers };
}

export interface ParsedRow {
  readonly value: JsonValue;
  /** JSON that means the value: the given text, with null for what is not a number. */
  readonly text: string;
  /** How many `NaN` and infinities the row has. */
  readonly nonNumbers: number;
}

/** `NaN` and infinities become null. @throws JsonlError, without a column if the row has such values before */
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
