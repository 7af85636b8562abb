import type { OwnBytes } from '@svc/jsonl-v23/bytes';
import { unreadableFile } from '../errors.ts';
import type { FileCompression } from '../files/file-format.ts';

export interface ByteInterval {
  readonly start: number;
  readonly end: number;
}

/** The bytes of one file, read where and when they are needed. */
export interface ByteSource {
  /** Name of the file, for errors; its last suffix says how text files are compressed, unless `compression` does. */
  readonly path: string;
  readonly byteLength: number;
  /** How the file is compressed; absent if its name says so. */
  readonly compression?: FileCompression | 'none' | undefined;
  /**
   * The most bytes that may come out of the file, by its compression or by references to one value; absent for 1 GiB or
   * 1,000 times its size.
   */
  readonly maxContentBytes?: number | undefined;
  /** Whether a read takes no longer for a few bytes than for many, as from a disk: then little is read ahead. Default false. */
  readonly isNear?: boolean;
  /** Reads the bytes from `start` to `end` (exclusive), exactly that many. They are the caller's, who may free their memory. */
  readRange(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes>;
  /**
   * Reads the whole file. Each chunk is the caller's, who may free its memory.
   * @param head the file's first bytes, if you have them; they are handed out again and not read
   */
  stream(signal?: AbortSignal, head?: readonly Uint8Array[]): AsyncGenerator<Uint8Array>;
}

export function deriveSource(file: ByteSource, members: Partial<ByteSource>): ByteSource {
  const { path, byteLength, compression, maxContentBytes, isNear = false } = file;
  return {
    path,
    byteLength,
    compression,
    maxContentBytes,
    isNear,
    readRange: (start, end, signal) => file.readRange(start, end, signal),
    stream: (signal, head) => file.stream(signal, head),
    ...members,
  };
}

/** A file behind random access. */
export interface RandomAccess {
  readonly byteLength: number;
  /** As in `ByteSource`. */
  readonly maxContentBytes?: number | undefined;
  /** Bytes that fill a buffer are the caller's, unless they are the whole file: it may free their memory. */
  read(start: number, end: number): Promise<Uint8Array>;
}

const READ_BYTES = 256 * 1024;

/** A file behind random access as a source of tables; the next bytes are read while these are used. */
export function tableSource(path: string, source: RandomAccess): ByteSource {
  const { byteLength, maxContentBytes } = source;
  const readRange = async (
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<Uint8Array<ArrayBuffer>> => {
    signal?.throwIfAborted();
    const bytes = await source.read(start, end);
    if (bytes.byteLength < end - start) {
      throw unreadableFile('damaged_file', path, 'it became shorter');
    }
    // Readers free the memory of what they get, and may post it to a thread. All of a source may be its own memory.
    const isOwn = bytes.byteLength === bytes.buffer.byteLength && bytes.byteLength < byteLength;
    return isOwn ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
  };
  return {
    path,
    byteLength,
    maxContentBytes,
    isNear: true,
    readRange,
    async *stream(signal, head = []) {
      yield* head;
      let at = head.reduce((sum, chunk) => sum + chunk.byteLength, 0);
      const next = (): Promise<Uint8Array> | null => {
        if (at >= byteLength) return null;
        const start = at;
        at = Math.min(byteLength, start + READ_BYTES);
        const bytes = readRange(start, at, signal);
        // The loop throws it.
        bytes.catch(() => undefined);
        return bytes;
      };
      for (let reading = next(); reading !== null; ) {
        const bytes = await reading;
        reading = next();
        yield bytes;
      }
    },
  };
}

export function withCompression(file: ByteSource, compression: FileCompression | undefined): ByteSource {
  return deriveSource(file, { compression: compression ?? 'none' });
}

/** The limit for small files. */
const MIN_LIMIT_BYTES = 1024 * 1024 * 1024;
/** Repeated texts shrink to a hundredth; a column of one value to less. */
const MAX_EXPANSION_RATIO = 1000;

/** Makes a counter of what comes out of a file, which throws TableError `too_large` if that is too much. */
export function createExpansionMeter({
  path,
  byteLength,
  maxContentBytes = Math.max(MIN_LIMIT_BYTES, byteLength * MAX_EXPANSION_RATIO),
}: Pick<ByteSource, 'path' | 'byteLength' | 'maxContentBytes'>): (bytes: number) => void {
  let left = maxContentBytes;
  return (bytes) => {
    left -= bytes;
    if (left >= 0) return;
    const reason = `more than ${maxContentBytes} bytes come out of its ${byteLength} bytes`;
    throw unreadableFile('too_large', path, reason);
  };
}
