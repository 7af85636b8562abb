/** Functions that Node does faster than portable code, which `native-portable.ts` has under the same names. */
import { Buffer, isUtf8 as isUtf8Buffer } from 'node:buffer';
import { createHash, hash } from 'node:crypto';
import type { Sha256 } from './native-portable.ts';

/** SHA-256 of the bytes, or of a string's UTF-8 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  const digest = new Uint8Array(DIGEST_BYTES);
  sha256Into(data, digest);
  return digest;
}

export function sha256Into(data: string | Uint8Array, target: Uint8Array): void {
  // Decoding a digest from text costs half as much as allocating a Buffer.
  const digest = hash('sha256', data, 'binary');
  for (let index = 0; index < DIGEST_BYTES; index++) target[index] = digest.charCodeAt(index);
}

/** SHA-256 of the bytes as lower-case hex digits. */
export function sha256Hex(bytes: Uint8Array): string {
  return hash('sha256', bytes);
}

const DIGEST_BYTES = 32;

/** Starts a SHA-256 that is fed in parts. */
export function createSha256(): Sha256 {
  const state = createHash('sha256');
  return { update: (data) => void state.update(data), digest: () => new Uint8Array(state.digest()) };
}

/** Bytes as lower-case hex digits. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8Buffer(bytes);
}

/** Writes bytes as base64 (RFC 4648 section 4, padded). */
export function encodeBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('base64');
}

/**
 * The bytes of a base64 text; null when it is none. White space and missing padding are forgiven (WHATWG Infra,
 * "forgiving-base64 decode"), as data: URIs are read; `isBase64` is the strict test.
 */
export function decodeBase64(text: string): Uint8Array | null {
  if (isBase64(text)) return ownBytes(Buffer.from(text, 'base64'));
  const compact = text.replace(/[\t\n\f\r ]+/g, '');
  const letters = compact.length % 4 === 0 ? compact.replace(/={1,2}$/, '') : compact;
  // Node ignores what is no letter, and takes those of other alphabets.
  if (letters.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(letters)) return null;
  return ownBytes(Buffer.from(letters, 'base64'));
}

/** Bytes in their own buffer: Node keeps short ones in a buffer that others share. */
function ownBytes(bytes: Buffer): Uint8Array {
  const isOwn = bytes.byteLength === bytes.buffer.byteLength;
  return isOwn ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes);
}

/** Characters that are compared at a time: a multiple of 4. */
const PIECE_LENGTH = 48 * 1024;

/**
 * Whether a text is base64 as RFC 4648 section 4 writes it: the standard alphabet, padded, without line
 * breaks, unused bits zero (section 3.5). Exactly these texts come out of `encodeBase64` again, so a file and
 * its embedded form stand for one another.
 */
export function isBase64(text: string): boolean {
  // Decoding and encoding a text take a tenth of the time of a look at its characters.
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    const piece = text.slice(at, at + PIECE_LENGTH);
    const bytes = Buffer.from(piece, 'base64');
    if (bytes.toString('base64') !== piece) return false;
    // Padding ends a text.
    if (bytes.byteLength % 3 !== 0 && at + PIECE_LENGTH < text.length) return false;
  }
  return true;
}
