import { decompress, isCutOff } from '#runtime';
import { TableError, unreadableFile } from '../errors.ts';
import { compressionOf, type FileCompression } from '../files/file-format.ts';
import { type ByteSource, createExpansionMeter } from '../source/byte-source.ts';
import { joinSignals } from '../source/turns.ts';

/** Bytes that the files of some tables may still cache together. */
export interface CacheBudget {
  bytes: number;
}

/** How a file is compressed: as its source states, else by its name. */
export function compressionOfFile({ compression, path }: ByteSource): FileCompression | 'none' | 'other' {
  return compression ?? compressionOf(path) ?? 'none';
}

/** A text file, compressed or not. Its first bytes are cached when they are read. */
export class CachedFile {
  readonly #source: ByteSource;
  readonly #budget: CacheBudget;
  /** The first bytes, as they are stored; undefined until the file is read: a table may have 100,000 files. */
  #head: Uint8Array[] | undefined;

  constructor(source: ByteSource, budget: CacheBudget = { bytes: 0 }) {
    this.#source = source;
    this.#budget = budget;
  }

  get path(): string {
    return this.#source.path;
  }

  get byteLength(): number {
    return this.#source.byteLength;
  }

  get compression(): FileCompression | 'none' | 'other' {
    return compressionOfFile(this.#source);
  }

  /** Reads the content, decompressed. Each chunk is the caller's. @throws TableError `damaged_file`, `too_large` */
  read(signal: AbortSignal | undefined): AsyncIterable<Uint8Array> {
    const { compression } = this;
    return compression === 'gzip' || compression === 'zstd'
      ? this.#inflate(compression, signal)
      : this.#stored(signal);
  }

  async *#stored(signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    this.#head ??= [];
    const head = this.#head;
    const cached = head.length;
    let index = 0;
    let isCaching = true;
    for await (const chunk of this.#source.stream(signal, head.slice(0, cached))) {
      if (index >= cached && isCaching) {
        // The cache has no gaps, and one reader fills it at a time.
        isCaching = head.length === index && chunk.length <= this.#budget.bytes;
        if (isCaching) {
          // `slice` of a Buffer would share its memory.
          head.push(new Uint8Array(chunk));
          this.#budget.bytes -= chunk.length;
        }
      }
      index += 1;
      yield index <= cached ? new Uint8Array(chunk) : chunk;
    }
  }

  async *#inflate(compression: FileCompression, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
    let sourceError: unknown;
    const stored = async function* (this: CachedFile, ended: AbortSignal): AsyncGenerator<Uint8Array> {
      try {
        yield* this.#stored(joinSignals(signal, ended));
      } catch (error) {
        sourceError = error;
        throw error;
      }
    };
    try {
      const count = createExpansionMeter(this.#source);
      for await (const chunk of decompress(compression, stored.bind(this))) {
        count(chunk.length);
        yield chunk;
      }
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof TableError || cause === sourceError) throw cause;
      const reason = isCutOff(cause)
        ? `it is cut off: its ${compression} data has no end`
        : `it is not ${compression}`;
      throw unreadableFile('damaged_file', this.path, reason, cause);
    }
  }
}
