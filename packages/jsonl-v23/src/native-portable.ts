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

/** SHA-256 of the bytes as lower-case hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return toHex(sha256(bytes));
}

/** Starts a SHA-256 that is fed in parts. */
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

/** Bytes as lower-case hex digits. */
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

/** Writes bytes as base64 (RFC 4648 section 4, padded). */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + PIECE_BYTES)));
  }
  return btoa(pieces.join(''));
}

/** Arguments of one call. */
const PIECE_BYTES = 8 * 1024;

/**
 * The bytes of a base64 text; null when it is none. White space and missing padding are forgiven (WHATWG Infra,
 * "forgiving-base64 decode"), as data: URIs are read; `isBase64` is the strict test.
 */
export function decodeBase64(text: string): Uint8Array | null {
  try {
    const binary = atob(text);
    const bytes = new Uint8Array(binary.length);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = binary.charCodeAt(at);
    return bytes;
  } catch {
    return null;
  }
}

/** Whether a text is base64 as `encodeBase64` writes it: no other text stands for the same bytes. */
export function isBase64(text: string): boolean {
  try {
    return btoa(atob(text)) === text;
  } catch {
    return false;
  }
}
