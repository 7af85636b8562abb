/** The functions of `native-node.ts`, for browsers. */
import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { validUtf8Length } from './json/bytes.ts';

/** SHA-256 (FIPS 180-4) in parts. Strings are hashed as UTF-8. */
export interface Sha256 {
  update(data: string | Uint8Array): void;
  /** The 32 bytes; the value must not be used afterwards. */
  digest(): Uint8Array;
}

/** SHA-256 of the bytes, or of a string's UTF-8 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  return nobleSha256(toBytes(data));
}

export function sha256Into(data: string | Uint8Array, target: Uint8Array): void {
  target.set(sha256(data));
}

export function sha256Hex(bytes: Uint8Array): string {
  return toHex(sha256(bytes));
}

export function createSha256(): Sha256 {
  const state = nobleSha256.create();
  return {
    update(data) {
      state.update(toBytes(data));
    },
    digest() {
      return state.digest();
    },
  };
}

function toBytes(data: string | Uint8Array): Uint8Array {
  return typeof data === 'string' ? new TextEncoder().encode(data) : data;
}

export function toHex(bytes: Uint8Array): string {
  let hex = '';
  for (const byte of bytes) hex += DIGITS[byte];
  return hex;
}

const DIGITS: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

export function isUtf8(bytes: Uint8Array): boolean {
  return validUtf8Length(bytes) === bytes.length;
}

export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES)));
  }
  return btoa(pieces.join(''));
}

/** Arguments of one call. */
const PIECE_BYTES = 8 * 1024;

/** The bytes of a base64 text that may have white space and lack its padding; null when it is none. */
export function decodeBase64(text: string): Uint8Array | null {
  try {
    const binary = atob(text);
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

/** Whether a text is base64 as `encodeBase64` writes it. */
export function isBase64(text: string): boolean {
  try {
    return btoa(atob(text)) === text;
  } catch {
    return false;
  }
}
