import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Checksums } from '../checksums.ts';

/** Node's own, in native code. */
export const nodeChecksums: Checksums = {
  crc32: (bytes, value) => crc32(bytes, value),
  createSha256() {
    const hash = createHash('sha256');
    return {
      update(bytes) {
        hash.update(bytes);
      },
      digest: () => new Uint8Array(hash.digest()),
    };
  },
};
