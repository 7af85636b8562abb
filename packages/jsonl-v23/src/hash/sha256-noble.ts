import { sha256 as nobleSha256 } from '@noble/hashes/sha2.js';
import { toHex } from './hex.ts';

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

/** Writes the 32 bytes of the hash into `target`. */
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
