import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { TableError } from './errors.ts';
import type { Inflate } from './parquet/codecs/inflate.ts';
import { createSnappyInflater } from './parquet/codecs/inflate-snappy.ts';
import type { SmallFrames } from './parquet/codecs/zstd/small-frames.ts';

export { crc32 } from 'node:zlib';

const { brotliDecompress, brotliDecompressSync, createBrotliDecompress, createGunzip, gunzip, gunzipSync } =
  zlib;
/** Absent before Node 22.15. */
const { createZstdDecompress, zstdDecompress, zstdDecompressSync }: Partial<typeof zlib> = zlib;

/** Encodings that a body or a file may have. */
export type Compression = 'gzip' | 'zstd' | 'br';

/**
 * Decompresses a stream on the thread pool. `open` gets a signal that ends it, so that nothing is left waiting
 * when the consumer leaves early.
 */
export async function* decompress(
  compression: Compression,
  open: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const stop = new AbortController();
  const input = open(stop.signal)[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  let ended = false;

  let small = compression === 'zstd' ? await loadSmallFrames() : null;
  let isDone = false;
  try {
    // The zstd engine is done at the end of a frame and leaves the rest of the chunk, which is another frame.
    for (let isFirst = true; isFirst || !ended || rest.length > 0; isFirst = false) {
      if (small !== null) {
        // What is cut by the end of a chunk is left to the engine, which does not wait for all of it.
        if (rest.length === 0 && !ended) {
          const next = await input.next();
          ended = next.done === true;
          if (next.done !== true) rest = next.value;
        }
        const taken = small.take(rest);
        // The engine says what is wrong with a frame.
        if (taken === null) small = null;
        else if (taken.end > 0) {
          rest = rest.subarray(taken.end);
          if (taken.bytes.length > 0) yield taken.bytes;
          await yieldToEventLoop();
          continue;
        } else if (rest.length === 0 && !isFirst) break;
      }
      const inflate = INFLATERS[compression]();
      const feed = async (): Promise<void> => {
        while (!inflate.destroyed) {
          if (rest.length === 0) {
            if (ended) break;
            const next = await input.next();
            ended = next.done === true;
            if (next.done === true) break;
            rest = next.value;
          }
          const before = inflate.bytesWritten;
          await written(inflate, rest);
          rest = rest.subarray(inflate.bytesWritten - before);
          if (rest.length > 0) break;
        }
        inflate.end();
      };
      const feeding = feed().catch((error: unknown) => {
        inflate.destroy(error as Error);
      });
      let isWhole = false;
      try {
        for await (const chunk of inflate) yield chunk as Uint8Array;
        isWhole = true;
      } finally {
        if (!isWhole) stop.abort();
        inflate.destroy();
        await feeding;
      }
    }
    isDone = true;
  } finally {
    if (!isDone) {
      stop.abort();
      await input.return?.();
    }
  }
}

/** Null where there is no zstd: whoever decompresses it is told so. */
async function loadSmallFrames(): Promise<SmallFrames | null> {
  if (createZstdDecompress === undefined) return null;
  const module = await import('./parquet/codecs/zstd/small-frames.ts');
  return new module.SmallFrames();
}

const INFLATERS = {
  gzip: createGunzip,
  zstd: () => {
    if (createZstdDecompress !== undefined) return createZstdDecompress();
    throw new TableError('unsupported_file', 'Cannot decompress zstd: it needs Node 22.15 or newer.');
  },
  br: createBrotliDecompress,
} as const satisfies Record<Compression, () => Transform>;

/** Settles when the engine has seen the chunk, or never will. */
function written(inflate: Transform, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    inflate.once('close', resolve);
    inflate.write(chunk, (error) => {
      inflate.off('close', resolve);
      if (error) reject(error);
      else resolve();
    });
  });
}

/** Lets whatever waits have its turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Larger pages are decompressed on the thread pool; for smaller ones the way there takes longer than the work. */
const MAX_INLINE_BYTES = 2 * 1024 * 1024;
/** zlib takes no smaller ones. */
const MIN_PIECE_BYTES = 64;

type Zlib = (
  input: Uint8Array,
  options: { maxOutputLength: number; chunkSize: number },
  done: (error: Error | null, output: Uint8Array) => void,
) => void;
type ZlibSync = (input: Uint8Array, options: { maxOutputLength: number; chunkSize: number }) => Uint8Array;

function zlibCodec(inflateSync: ZlibSync, inflate: Zlib): Inflate {
  return (input, outputLength) => {
    // One piece for all of it: nothing is put together afterwards, and memory is only used as far as it is written.
    const options = {
      maxOutputLength: outputLength || 1,
      chunkSize: Math.max(outputLength, MIN_PIECE_BYTES),
    };
    if (outputLength <= MAX_INLINE_BYTES) return inflateSync(input, options);
    return new Promise((resolve, reject) => {
      inflate(input, options, (error, output) => (error === null ? resolve(output) : reject(error)));
    });
  };
}

/** What decompresses pages of one codec of Parquet; their length is known, and none exceeds it. Undefined for other codecs. */
export function loadPageCodec(codec: string): Promise<Inflate> | Inflate | undefined {
  switch (codec) {
    case 'GZIP':
      return zlibCodec(gunzipSync, gunzip);
    case 'BROTLI':
      return zlibCodec(brotliDecompressSync, brotliDecompress);
    case 'ZSTD':
      return zstdDecompressSync === undefined || zstdDecompress === undefined
        ? import('./parquet/codecs/zstd/inflate-zstd.ts').then(({ inflateZstd }) => inflateZstd)
        : zlibCodec(zstdDecompressSync, zstdDecompress);
    case 'SNAPPY':
      return createSnappyInflater();
    default:
      return undefined;
  }
}
