import { isUtf8 as isUtf8Buffer } from 'node:buffer';

/** Whether all of the bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8Buffer(bytes);
}
