import { open } from 'node:fs/promises';
import type { PackageLimits } from '../limits.ts';
import type { Archive } from '../package/layout.ts';
import { openArchive } from '../package/open-archive.ts';
import { type OpenOptions, type PackageReader, readPackage } from '../package/package-reader.ts';
import type { ByteSource } from '../zip/byte-source.ts';

/** An archive in a file, which is read by position. */
export interface FileSource extends ByteSource {
  /** Closes the file. */
  close(): Promise<void>;
}

/** Reads of up to this size share one buffer if they are no further apart than this. */
const NEAR_BYTES = 64 * 1024;
const WINDOW_BYTES = 512 * 1024;

/**
 * Opens a file for random access. Small consecutive reads, such as the headers and contents of many small entries, share
 * one read of the file. The bytes of `read` are views of a window, which they keep in memory.
 *
 * @throws errors of the file system
 */
export async function openFileSource(path: string): Promise<FileSource> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    let window: Buffer = Buffer.alloc(0);
    let windowStart = 0;
    let lastEnd = 0;
    let isOpen = true;

    async function readAt(start: number, end: number): Promise<Buffer> {
      const bytes = Buffer.allocUnsafeSlow(end - start);
      if (!isOpen) throw new Error('Cannot read the archive: it was closed.');
      let filled = 0;
      while (filled < end - start) {
        const { bytesRead } = await file.read(bytes, filled, end - start - filled, start + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    }

    return {
      byteLength: size,
      async read(start, end) {
        const isNear = start >= lastEnd && start - lastEnd <= NEAR_BYTES && end - start <= NEAR_BYTES;
        lastEnd = end;
        if (isOpen && start >= windowStart && end <= windowStart + window.byteLength)
          return window.subarray(start - windowStart, end - windowStart);
        if (!isNear) return await readAt(start, end);
        const found = await readAt(start, Math.max(end, Math.min(size, start + WINDOW_BYTES)));
        [window, windowStart] = [found, start];
        return found.subarray(0, end - start);
      },
      close: () => {
        isOpen = false;
        return file.close();
      },
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Opens a package in a file. Memory does not grow with the archive: its directory is held, and files are streamed.
 *
 * @throws PackageError as `openPackage`; errors of the file system
 * @example
 * await using pkg = await openPackageFile('dataset.pkg.zip');
 */
export async function openPackageFile(path: string, options: OpenOptions = {}): Promise<PackageReader> {
  return readPackage(await openArchiveFile(path, options));
}

/** Receives the number of bytes of the file that have been read. */
export type OnRead = (readBytes: number, totalBytes: number) => void;

interface OpenFileOptions {
  readonly limits?: Partial<PackageLimits> | undefined;
  readonly onRead?: OnRead | undefined;
}

/** Opens any ZIP archive in a file, a package or not, and closes it after its use. */
export async function withArchiveFile<T>(
  path: string,
  options: OpenFileOptions,
  use: (archive: Archive) => Promise<T>,
): Promise<T> {
  const archive = await openArchiveFile(path, options);
  try {
    return await use(archive);
  } finally {
    await archive.close();
  }
}

async function openArchiveFile(path: string, { limits, onRead }: OpenFileOptions): Promise<Archive> {
  const source = await openFileSource(path);
  return openArchive(onRead ? countedSource(source, onRead) : source, limits, () => source.close());
}

function countedSource(source: ByteSource, onRead: OnRead): ByteSource {
  let readBytes = 0;
  const count = (bytes: Uint8Array): Uint8Array => {
    readBytes += bytes.byteLength;
    onRead(Math.min(readBytes, source.byteLength), source.byteLength);
    return bytes;
  };
  return {
    byteLength: source.byteLength,
    read: async (start, end) => count(await source.read(start, end)),
  };
}
