import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { TableError } from './errors.ts';
import type { Inflate } from './parquet/codecs/inflate-block.ts';
import { createSnappyInflater } from './parquet/codecs/inflate-snappy.ts';

export { crc32 } from 'node:zlib';

const { brotliDecompress, brotliDecompressSync, createBrotliDecompress, createGunzip, gunzip, gunzipSync } =
  zlib;
/** Absent before Node 22.15. */
const { createZstdDecompress, zstdDecompress, zstdDecompressSync }: Partial<typeof zlib> = zlib;

/** Encodings that a body or a file may have. */
export type Compression = 'gzip' | 'zstd' | 'br';

/** Bytes of a long stream that cost as much as an engine, within a factor of ten. */
const BYTES_PER_ENGINE = 1024;
/** Engines that a stream may have, however short its parts are. */
const FREE_ENGINES = 1000;

/**
 * Decompresses a stream on the thread pool. `open` gets a signal that ends it, so that nothing is left waiting
 * when the consumer leaves early. Zeros between and after the members of gzip are left out.
 *
 * @throws TableError `unsupported_file` for parts that cost more than their bytes are worth; errors of zlib and of the source
 */
export async function* decompress(
  compression: Compression,
  open: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const stop = new AbortController();
  const input = open(stop.signal)[Symbol.asyncIterator]();
  let rest: Uint8Array = NO_BYTES;
  let ended = false;
  let readBytes = 0;
  const readNext = async (): Promise<void> => {
    const next = await input.next();
    ended = next.done === true;
    if (next.done === true) return;
    rest = next.value;
    readBytes += rest.length;
  };
  const skipZeros = async (): Promise<void> => {
    for (;;) {
      const at = rest.findIndex((byte) => byte !== 0);
      rest = at === -1 ? NO_BYTES : rest.subarray(at);
      if (rest.length > 0 || ended) return;
      await readNext();
    }
  };

  let engines = 0;
  let isDone = false;
  try {
    // The zstd engine ends with a frame and leaves the rest of the chunk, another frame. The gzip engine leaves zeros.
    for (let isFirst = true; isFirst || !ended || rest.length > 0; isFirst = false) {
      if (compression === 'gzip' && !isFirst) {
        await skipZeros();
        if (rest.length === 0) break;
      }
      engines += 1;
      if (engines > FREE_ENGINES && engines * BYTES_PER_ENGINE > readBytes - rest.length) {
        const reason = `it has more than ${FREE_ENGINES} parts of few bytes each; compress it as a whole`;
        throw new TableError('unsupported_file', `Cannot decompress ${compression}: ${reason}.`);
      }
      const inflate = INFLATERS[compression]();
      const feed = async (): Promise<void> => {
        while (!inflate.destroyed) {
          if (rest.length === 0) {
            if (!ended) await readNext();
            if (ended) break;
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

const NO_BYTES = new Uint8Array();

/** Whether decompressing failed because the bytes end too early. */
export const isCutOff = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'Z_BUF_ERROR';

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

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Larger pages are decompressed on the thread pool; for smaller ones, getting there takes longer than the work. */
const MAX_INLINE_BYTES = 2 * 1024 * 1024;
/** zlib throws for smaller ones. */
const MIN_PIECE_BYTES = 64;

type Zlib = (
  input: Uint8Array,
  options: { maxOutputLength: number; chunkSize: number },
  done: (error: Error | null, output: Uint8Array) => void,
) => void;
type ZlibSync = (input: Uint8Array, options: { maxOutputLength: number; chunkSize: number }) => Uint8Array;

function zlibCodec(inflateSync: ZlibSync, inflate: Zlib): Inflate {
  return (input, outputLength) => {
    // One buffer for all: nothing is joined afterwards, and only written memory is used.
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

/** Decompresses pages of one codec of Parquet, whose known length none exceeds. Undefined for other codecs. */
export function loadPageCodec(codec: string): Inflate | undefined {
  switch (codec) {
    case 'GZIP':
      return zlibCodec(gunzipSync, gunzip);
    case 'BROTLI':
      return zlibCodec(brotliDecompressSync, brotliDecompress);
    case 'ZSTD':
      return zstdDecompressSync && zstdDecompress && zlibCodec(zstdDecompressSync, zstdDecompress);
    case 'SNAPPY':
      return createSnappyInflater();
    default:
      return undefined;
  }
}
