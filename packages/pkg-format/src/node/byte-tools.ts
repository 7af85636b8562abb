import { crc32 } from 'node:zlib';
import type { ByteTools } from '../zip/byte-tools.ts';

/** Node's own, in native code. */
export const nodeByteTools: ByteTools = {
  crc32: (bytes, value) => crc32(bytes, value),
  decodeBase64(text) {
    const bytes = Buffer.from(text, 'base64');
    return bytes.toString('base64') === text ? bytes : null;
  },
  encodeBase64: ({ buffer, byteOffset, byteLength }) =>
    Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
};
