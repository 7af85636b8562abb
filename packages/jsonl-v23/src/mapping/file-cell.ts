import { decodeBase64 } from '#native';
import { JsonlError } from '../errors.ts';
import {
  describeValue,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  setMember,
} from '../json/json-value.ts';
import { tryParseJson } from '../json/parse-json.ts';
import { mimeTypeForPath, sniffMimeType } from '../media/mime-type.ts';

/** Whether an object has the form of image and audio cells: `{bytes: base64 or null, path: string or null}`. */
export function isFileCell(value: JsonObject): boolean {
  return (
    Object.hasOwn(value, 'bytes') &&
    Object.keys(value).every((key) => key === 'bytes' || key === 'path') &&
    [value['bytes'], value['path'] ?? null].every((member) => member === null || typeof member === 'string')
  );
}

/**
 * The asset entry of a file's content; its type is read from the first bytes, else from the path's extension.
 *
 * @param base64 the content
 * @param path name of the file, if it has one
 */
export function embeddedEntry(base64: string, path: JsonValue): JsonObject {
  // 16 characters are the first 12 bytes.
  const start = decodeBase64(base64.slice(0, 16));
  const type = (start && sniffMimeType(start)) ?? mimeTypeForPath(typeof path === 'string' ? path : '');
  return { mime_type: type, encoding: 'base64', data: base64 };
}

/**
 * The `assets` of an item from a dataset cell. It returns an object, or a string that is one in JSON, as it is. A file
 * cell, `{bytes, path}`, becomes an embedded entry under the column's name, its type detected from its first bytes or
 * else from its path. Null for a null cell, and for a file cell without bytes and path.
 */
export function toAssets(column: string, cell: JsonValue, row: number): JsonObject | null {
  if (cell === null) return null;
  const value = typeof cell === 'string' ? tryParseJson(cell) : cell;
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

function notAssets(column: string, problem: string, row: number): JsonlError {
  const message = `Column ${column} must hold an object of assets, ${problem} in dataset row ${row}`;
  return new JsonlError('assets_not_object', message, { row });
}
