import { createPageCodecs } from '#runtime';
import type { Codec } from '../metadata/file-metadata.ts';
import { damaged, ParquetError, unsupported } from '../parquet-error.ts';
import { inflateSnappyBlock } from './inflate-snappy-block.ts';
import { inflateHadoopLz4, inflateLz4Block } from './lz4-block.ts';

/** Bytes of one page; their buffer holds nothing else. */
type InflatedPage = Uint8Array<ArrayBuffer>;

/** What decompresses the pages of one file. */
export interface PageInflater {
  /**
   * Decompresses a page. An uncompressed one is returned as it is, in the same memory.
   *
   * @param length bytes that the page's header states; an inflated page has exactly these
   * @throws ParquetError
   */
  inflate(codec: Codec, input: Uint8Array, length: number): Uint8Array | Promise<Uint8Array>;
  /** Whether all of this memory is one decompressed page, so that it can be freed with the page. */
  isPage(memory: ArrayBufferLike): boolean;
}

/**
 * Bytes that one compressed byte can stand for at most. No memory is taken for a page that says it has more. zstd and
 * Brotli have no such bound: they take memory as they go.
 */
const MAX_RATIOS: Partial<Record<Codec, number>> = { SNAPPY: 32, GZIP: 1040, LZ4: 256, LZ4_RAW: 256 };
/** Bytes that a page may have beyond that: headers and short runs. */
const RATIO_SLACK = 1024;

export function createPageInflater(): PageInflater {
  const codecs = {
    SNAPPY: inflateSnappyBlock,
    LZ4_RAW: inflateLz4Block,
    LZ4: inflateHadoopLz4,
    ...createPageCodecs(),
  };
  const pages = new WeakSet<ArrayBufferLike>();
  return {
    inflate(codec, input, length) {
      if (codec === 'UNCOMPRESSED') return checked(input, codec, length);
      const inflate = codecs[codec as keyof typeof codecs];
      if (inflate === undefined) throw unsupported(`compression ${codec}`);
      if (length > input.length * (MAX_RATIOS[codec] ?? Number.POSITIVE_INFINITY) + RATIO_SLACK)
        throw wrongLength(codec, length);
      const own = (inflated: Uint8Array): Uint8Array => {
        const page = ownMemory(checked(inflated, codec, length));
        pages.add(page.buffer);
        return page;
      };
      const failed = (cause: unknown): never => {
        throw cause instanceof ParquetError
          ? cause
          : damaged(`a page is not ${codec}, or not as long as it says`, cause);
      };
      try {
        const inflated = inflate(input, length);
        return inflated instanceof Promise ? inflated.then(own).catch(failed) : own(inflated);
      } catch (error) {
        return failed(error);
      }
    },
    isPage: (memory) => pages.has(memory),
  };
}

function checked(page: Uint8Array, codec: Codec, length: number): Uint8Array {
  if (page.length !== length) throw wrongLength(codec, length);
  return page;
}

function wrongLength(codec: Codec, length: number): Error {
  return damaged(`a page of ${codec} bytes does not have the ${length} bytes that its header states`);
}

/** Node puts small buffers into one that they share, and hands out parts of larger ones. */
function ownMemory(bytes: Uint8Array): InflatedPage {
  const isOwn = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
  return isOwn ? (bytes as InflatedPage) : new Uint8Array(bytes);
}
