/** Functions that Node does faster than portable code, which `native-portable.ts` has under the same names. */
import { Buffer, isUtf8 as isUtf8Buffer } from 'node:buffer';
import { createHash, type Hash, hash } from 'node:crypto';

/** SHA-256 (FIPS 180-4) in parts. Strings are hashed as UTF-8. */
export interface Sha256 {
  update(data: string | Uint8Array): void;
  /** The 32 bytes; the value must not be used afterwards. */
  digest(): Uint8Array;
}

/** SHA-256 of the bytes, or of a string's UTF-8 bytes. */
export function sha256(data: string | Uint8Array): Uint8Array {
  const digest = new Uint8Array(DIGEST_BYTES);
  sha256Into(data, digest);
  return digest;
}

/** Writes the 32 bytes of the hash into `target`. */
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

/** Up to this size, bytes are hashed in one call: creating a state takes longer than hashing them. */
const SHORT_BYTES = 1024;

/** Starts a SHA-256 that is fed in parts. */
export function createSha256(): Sha256 {
  const short = Buffer.allocUnsafe(SHORT_BYTES);
  let length = 0;
  let state: Hash | undefined;
  return {
    update(data) {
      if (state === undefined) {
        if (length + Buffer.byteLength(data) <= SHORT_BYTES) {
          if (typeof data === 'string') length += short.write(data, length);
          else {
            short.set(data, length);
            length += data.byteLength;
          }
          return;
        }
        state = createHash('sha256').update(short.subarray(0, length));
      }
      state.update(data);
    },
    digest() {
      return state === undefined ? sha256(short.subarray(0, length)) : new Uint8Array(state.digest());
    },
  };
}

/** Bytes as lower-case hex digits. */
export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** Whether all of the bytes are UTF-8. */
export function isUtf8(bytes: Uint8Array): boolean {
  return isUtf8Buffer(bytes);
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
