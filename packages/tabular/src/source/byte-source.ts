import type { OwnBytes } from '@svc/jsonl-v23/internal';
import type { FileCompression } from '../format.ts';

/** Bytes from `start` to `end` (exclusive) of a file. */
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

/** A file like another one, with some members replaced. */
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
