import { validUtf8Length } from '../json/utf8.ts';

/** Whether all of the bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  return validUtf8Length(bytes) === bytes.length;
}
