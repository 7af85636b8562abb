import { pipeline, Readable } from 'node:stream';
import { createInflateRaw, inflateRawSync, crc32 as zlibCrc32 } from 'node:zlib';
import { transferBuffer } from '@svc/jsonl-v23/bytes';
import { entryError } from '../errors.ts';
import type { ZipEntry } from './byte-source.ts';

/** Differs from the size of the pool that small buffers share: a chunk that fills its buffer is alone in it. */
const CHUNK_BYTES = 128 * 1024;
/** Returns chunks one by one: a stream of bytes would join waiting ones. The types know only options of zlib. */
const INFLATE_OPTIONS = { chunkSize: CHUNK_BYTES, readableObjectMode: true, readableHighWaterMark: 2 };

/** zlib throws for a smaller size of chunks. */
const MIN_CHUNK_BYTES = 64;

/** CRC-32 of `bytes` after bytes whose CRC-32 is `value` (0 at the start). */
export function crc32(bytes: Uint8Array, value: number): number {
  return zlibCrc32(bytes, value);
}

/**
 * Inflates the raw deflate data of an entry (RFC 1951) as fast as the result is read. Stopping early closes `packed` and
 * frees the inflater. (`DecompressionStream` of Node 22.19 ignores bytes after the end.)
 *
 * @param isTransient whether the memory of a chunk is freed when the next one is asked for: left to the garbage
 *   collector, it would make it mark the whole heap for every 50 MB
 */
export async function* inflateRaw(
  packed: AsyncIterable<Uint8Array>,
  entry: ZipEntry,
  isTransient = false,
): AsyncGenerator<Uint8Array> {
  const inflater = createInflateRaw(INFLATE_OPTIONS);
  const source = Readable.from(packed, { objectMode: false });
  // The callback is required; the loop over the inflater gets the same errors.
  pipeline(source, inflater, () => {});
  try {
    for await (const chunk of inflater as AsyncIterable<Buffer<ArrayBuffer>>) {
      yield chunk;
      // The inflater continues to write into a buffer that is not full.
      const isFull = chunk.byteOffset + chunk.byteLength === CHUNK_BYTES;
      if (isTransient && isFull && chunk.buffer.byteLength === CHUNK_BYTES) transferBuffer(chunk.buffer, 0);
    }
  } catch (error) {
    throw isZlibError(error) ? invalidDeflate(entry, error) : error;
  } finally {
    source.destroy();
  }
  if (inflater.bytesWritten !== entry.compressedSize) throw invalidDeflate(entry);
}

/** Synchronous. Null unless it is one valid stream of at most `maxBytes`; {@link inflateRaw} then finds out why. */
export function inflateSmall(packed: Uint8Array, maxBytes: number): Uint8Array | null {
  try {
    // One buffer, and a byte that stays free tells that no more is to come. The types know only the result's buffer.
    const chunkSize = Math.max(MIN_CHUNK_BYTES, maxBytes + 1);
    const options = { chunkSize, maxOutputLength: Math.max(1, maxBytes), info: true };
    const { buffer, engine } = inflateRawSync(packed, options) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    return engine.bytesWritten === packed.byteLength ? buffer : null;
  } catch {
    return null;
  }
}

function invalidDeflate({ name }: ZipEntry, cause?: unknown): Error {
  return entryError('package_corrupt', name, 'is not exactly one valid deflate stream', cause);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
