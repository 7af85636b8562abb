import type { PackageLimits } from '../limits.ts';
import { type Archive, openArchive } from '../package/open-archive.ts';
import type { OpenOptions } from '../package/open-package.ts';
import { type PackageReader, readPackage } from '../package/package-reader.ts';
import { type ByteSource, viewOf } from '../zip/byte-source.ts';
import { openFileSource } from './file-source.ts';

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
    view: async (start, end) => count(await viewOf(source, start, end)),
  };
}
