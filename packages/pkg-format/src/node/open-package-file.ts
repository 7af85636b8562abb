import type { PackageLimits } from '../limits.ts';
import { type Archive, type ArchiveBackend, openArchive } from '../package/open-archive.ts';
import type { OpenOptions } from '../package/open-package.ts';
import { type PackageReader, readPackage } from '../package/package-reader.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import { nodeByteTools } from './byte-tools.ts';
import { openFileSource } from './file-source.ts';
import { inflateStream, openZipFile } from './inflate-stream.ts';

/**
 * Opens a package in a file. Memory does not grow with the archive: its directory is held, everything else is streamed.
 *
 * @throws PackageError as `openPackage`, and the file system's own errors
 * @example
 * await using pkg = await openPackageFile('dataset.pkg.zip');
 */
export async function openPackageFile(path: string, options: OpenOptions = {}): Promise<PackageReader> {
  return readPackage(await openArchiveFile(path, options.limits));
}

/** Opens a package behind any source of byte ranges; the source stays the caller's to close. */
export async function openPackageSource(
  source: ByteSource,
  options: OpenOptions = {},
): Promise<PackageReader> {
  return readPackage(
    await openArchive(
      streamingBackend(source, () => Promise.resolve()),
      options.limits,
    ),
  );
}

/** How much of an archive has been read, in bytes of the file. */
export type OnRead = (readBytes: number, totalBytes: number) => void;

/** Opens any ZIP archive in a file, package or not. */
export async function openArchiveFile(
  path: string,
  limits?: Partial<PackageLimits>,
  onRead?: OnRead,
): Promise<Archive> {
  const source = await openFileSource(path);
  return openArchive(
    streamingBackend(onRead ? countedSource(source, onRead) : source, () => source.close()),
    limits,
  );
}

function countedSource(source: ByteSource, onRead: OnRead): ByteSource {
  let readBytes = 0;
  return {
    byteLength: source.byteLength,
    async read(start, end) {
      const bytes = await source.read(start, end);
      readBytes += bytes.byteLength;
      onRead(Math.min(readBytes, source.byteLength), source.byteLength);
      return bytes;
    },
  };
}

function streamingBackend(source: ByteSource, close: () => Promise<void>): ArchiveBackend {
  let zipFile: ReturnType<typeof openZipFile> | undefined;
  return {
    source,
    async *inflate(entry, _ceiling, signal) {
      zipFile ??= openZipFile(source);
      yield* inflateStream(await zipFile, entry, signal);
    },
    tools: nodeByteTools,
    async close() {
      (await zipFile?.catch(() => undefined))?.close();
      await close();
    },
  };
}
