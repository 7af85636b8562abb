import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { decodeBase64 } from '../media/base64.ts';
import { mimeTypeForPath } from '../media/mime-type.ts';
import { sniffMimeType } from '../media/sniff-mime-type.ts';

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
