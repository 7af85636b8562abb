import { JsonlError } from '../errors.ts';
import { describeValue } from '../json/describe-value.ts';
import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { embeddedEntry, isFileCell } from './file-cell.ts';

/**
 * The `assets` of an item from a dataset cell. It returns an object, or a string that is one in JSON, as it is. A file
 * cell, `{bytes, path}`, becomes an embedded entry under the column's name, its type detected from its first bytes or
 * else from its path. Null for a null cell, and for a file cell without bytes and path.
 *
 * @throws JsonlError `assets_not_object`, with the row, for anything else
 */
export function toAssets(column: string, cell: JsonValue, row: number): JsonObject | null {
  if (cell === null) return null;
  const value = typeof cell === 'string' ? decodeJson(cell) : cell;
  if (!isJsonObject(value)) throw notAssets(column, `got ${describeValue(cell)}`, row);
  if (!isFileCell(value)) return value;

  const { bytes, path } = value;
  if (typeof bytes === 'string') {
    const assets: JsonObject = {};
    setMember(assets, column, embeddedEntry(bytes, path ?? null));
    return assets;
  }
  if (path === null || path === undefined) return null;
  throw notAssets(column, `got ${describeValue(path)} without the bytes of the file`, row);
}

/** The value of a text in JSON; null if it is not JSON. */
export function decodeJson(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonlError) return null;
    throw error;
  }
}

function notAssets(column: string, problem: string, row: number): JsonlError {
  const message = `Column ${column} must hold an object of assets, ${problem} in dataset row ${row}`;
  return new JsonlError('assets_not_object', message, { row });
}
