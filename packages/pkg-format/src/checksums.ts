import { crc32 } from './crc32.ts';
import { createPortableSha256, type Sha256 } from './sha256.ts';

/** The two checksums of the format; a runtime's own are faster. */
export interface Checksums {
  /** CRC-32 of `bytes` after bytes whose CRC-32 is `value` (0 at the start). */
  crc32(bytes: Uint8Array, value: number): number;
  createSha256(): Sha256;
}

export const portableChecksums: Checksums = { crc32, createSha256: createPortableSha256 };
