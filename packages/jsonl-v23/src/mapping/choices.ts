import { JsonlError } from '../errors.ts';
import { ExactNumber, type JsonObject, type JsonValue, setMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';

/**
 * The options of a multiple-choice item from a dataset cell, or null when the cell has none of these forms:
 *
 * - an array: itself;
 * - a string that is a JSON array: that array;
 * - an object of two or more arrays of one length, `{text: [...], label: [...]}`: an array of objects with the
 *   same keys, `[{label, text}, ...]`;
 * - any other primitive: an array of that one value.
 */
export function toChoices(cell: JsonValue): JsonValue[] | null {
  if (Array.isArray(cell)) return cell;
  if (typeof cell === 'string') return parseArray(cell) ?? [cell];
  if (typeof cell !== 'object' || cell === null || cell instanceof ExactNumber) return [cell];
  return zip(cell);
}

/** The array that a text is in JSON, or null. The first character excludes most cells without parsing. */
function parseArray(text: string): JsonValue[] | null {
  if (!/^[ \t\n\r]*\[/.test(text)) return null;
  try {
    const value = parseJson(text);
    return Array.isArray(value) ? value : null;
  } catch (error) {
    if (error instanceof JsonlError) return null;
    throw error;
  }
}

function zip(columns: JsonObject): JsonValue[] | null {
  const keys = Object.keys(columns);
  const [first, ...others] = keys.map((key) => columns[key]);
  if (keys.length < 2 || !Array.isArray(first)) return null;
  if (!others.every((column) => Array.isArray(column) && column.length === first.length)) return null;
  return first.map((_, index) => {
    const choice: JsonObject = {};
    for (const key of keys) setMember(choice, key, (columns[key] as JsonValue[])[index] as JsonValue);
    return choice;
  });
}
