import { loadPageCodec } from '#runtime';
import { shorten } from '../../errors.ts';
import type { Codec } from '../metadata/file-metadata.ts';
import { damaged, ParquetError, unsupported } from '../parquet-error.ts';
import { type Inflate, inflateHadoopLz4, inflateLz4Block, inflateSnappyBlock } from './inflate-block.ts';

/** Bytes of one page; their buffer holds nothing else. */
type InflatedPage = Uint8Array<ArrayBuffer>;

/**
 * Bytes that one compressed byte can stand for at most: a page that states more gets no memory. zstd and Brotli have no
 * such bound, and take memory as they go.
 */
const MAX_RATIOS: Partial<Record<Codec, number>> = { SNAPPY: 32, GZIP: 1040, LZ4: 256, LZ4_RAW: 256 };
/** Bytes that a page may have beyond these: headers and short runs. */
const RATIO_SLACK = 1024;

/** Functions that decompress pages of Parquet files to a given size, by the format's names of the codecs. */
export type Decompressors = Readonly<Partial<Record<Exclude<Codec, 'UNCOMPRESSED'>, Inflate>>>;

const IN_JAVASCRIPT: Decompressors = {
  SNAPPY: inflateSnappyBlock,
  LZ4_RAW: inflateLz4Block,
  LZ4: inflateHadoopLz4,
};

export class PageInflater {
  readonly #loaded = new Map<Codec, Inflate>();
  readonly #pages = new WeakSet<ArrayBufferLike>();

  /** @param codecs with a column that each compresses, for the error @throws ParquetError `unsupported_file` */
  constructor(codecs: ReadonlyMap<Codec, string>, decompressors: Decompressors = {}) {
    for (const [codec, column] of codecs) {
      if (codec === 'UNCOMPRESSED') continue;
      const inflate = decompressors[codec] ?? loadPageCodec(codec) ?? IN_JAVASCRIPT[codec];
      if (inflate === undefined) {
        throw unsupported(
          `column ${shorten(column)} is compressed with ${codec}, which this runtime does not have; ${codec === 'ZSTD' ? 'use Node 22.15 or newer, ' : ''}write the file with snappy or gzip, or in a program pass a function for it in \`decompressors\``,
        );
      }
      this.#loaded.set(codec, inflate);
    }
  }

  /** An uncompressed page stays in the same memory. @param length that the page must have @throws ParquetError */
  async inflate(codec: Codec, input: Uint8Array, length: number): Promise<Uint8Array> {
    if (codec === 'UNCOMPRESSED') return checked(input, codec, length);
    const inflate = this.#loaded.get(codec);
    if (inflate === undefined) throw new RangeError(`The decompressor of ${codec} has not been loaded.`);
    if (length > input.length * (MAX_RATIOS[codec] ?? Number.POSITIVE_INFINITY) + RATIO_SLACK)
      throw wrongLength(codec, length);
    try {
      const inflated = inflate(input, length);
      // A function may write the next page into the memory that it has just handed out.
      const bytes = inflated instanceof Promise ? await inflated : inflated;
      const page = ownMemory(checked(bytes, codec, length));
      this.#pages.add(page.buffer);
      return page;
    } catch (cause) {
      if (cause instanceof ParquetError) throw cause;
      throw damaged(`a page is not ${codec}, or not as long as it says`, cause);
    }
  }

  /** Whether all of this memory is one decompressed page, so that it can be freed with the page. */
  isPage(memory: ArrayBufferLike): boolean {
    return this.#pages.has(memory);
  }
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
