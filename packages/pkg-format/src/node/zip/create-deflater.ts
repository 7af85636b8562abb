import { createDeflateRaw, type DeflateRaw } from 'node:zlib';
import { DEFLATE_LEVEL } from '../../write/write-package.ts';

/** The compressor takes so many bytes ahead. The types know only options of zlib. */
const OPTIONS = { level: DEFLATE_LEVEL, chunkSize: 64 * 1024, highWaterMark: 512 * 1024 };

/** Deflates a large entry of a package on another thread. */
export function createDeflater(): DeflateRaw {
  return createDeflateRaw(OPTIONS);
}
