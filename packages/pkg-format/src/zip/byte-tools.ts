import { decodeBase64, encodeBase64, isBase64 } from '@svc/jsonl-v23/internal';
import { crc32 } from './crc32.ts';

/** Work on bytes that a runtime may do natively. */
export interface ByteTools {
  /** CRC-32 of `bytes` after bytes whose CRC-32 is `value` (0 at the start). */
  crc32(bytes: Uint8Array, value: number): number;
  /** The bytes of a base64 text; null unless the text is exactly what encoding them gives (RFC 4648 section 4). */
  decodeBase64(text: string): Uint8Array | null;
  /** The base64 text of bytes (RFC 4648 section 4). */
  encodeBase64(bytes: Uint8Array): string;
}

/** Plain JavaScript, for any runtime. */
export const portableByteTools: ByteTools = {
  crc32,
  decodeBase64: (text) => (isBase64(text) ? decodeBase64(text) : null),
  encodeBase64,
};
