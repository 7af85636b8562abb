import { Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import yauzl from 'yauzl';
import { entryError, PackageError } from '../errors.ts';
import type { ByteSource } from '../zip/byte-source.ts';
import type { ZipEntry } from '../zip/read-directory.ts';

const READ_BYTES = 128 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** yauzl's view of a source: it asks for ranges, and closes nothing that is ours. */
class SourceReader extends yauzl.RandomAccessReader {
  readonly #source: ByteSource;

  constructor(source: ByteSource) {
    super();
    this.#source = source;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(readRange(this.#source, start, end), { objectMode: false });
  }
}

async function* readRange(source: ByteSource, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += READ_BYTES) {
    const stop = Math.min(end, at + READ_BYTES);
    const bytes = await source.read(at, stop);
    if (bytes.byteLength < stop - at)
      throw new PackageError('package_corrupt', 'The archive became shorter while it was read');
    yield bytes;
  }
}

/** Opens a source as a yauzl archive. Its structure must have been checked: yauzl itself takes much for granted. */
export function openZipFile(source: ByteSource): Promise<yauzl.ZipFile> {
  return yauzl.fromRandomAccessReaderPromise(new SourceReader(source), source.byteLength, {
    autoClose: false,
    decodeStrings: false,
  });
}

/**
 * The uncompressed bytes of an entry, as fast as they are taken and no faster.
 *
 * yauzl gives the bytes as they lie in the archive; they are inflated here, so that a stream that does not end where
 * the entry ends is noticed, and so that the inflater is freed at once when reading stops half way.
 *
 * @throws PackageError `package_corrupt` for broken deflate data; the signal's reason
 */
export async function* inflateStream(
  zipFile: yauzl.ZipFile,
  entry: ZipEntry,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted();
  const { dataStart, compressedSize } = entry;
  const packed = await openPacked(zipFile, dataStart, compressedSize);
  if (entry.method === 'stored') {
    yield* takeAll(packed, signal);
    return;
  }
  const inflater = createInflateRaw({ chunkSize: CHUNK_BYTES });
  packed.once('error', (error) => inflater.destroy(error));
  packed.pipe(inflater);
  try {
    yield* takeAll(inflater, signal);
  } catch (error) {
    throw isZlibError(error)
      ? entryError('package_corrupt', entry.name, 'holds broken deflate data', error)
      : error;
  } finally {
    packed.unpipe(inflater);
    packed.destroy();
  }
  if (inflater.bytesWritten !== compressedSize)
    throw entryError('package_corrupt', entry.name, 'has bytes after the end of its deflate data');
}

/** yauzl's own promise form of this call (3.4.0) calls another function. */
function openPacked(zipFile: yauzl.ZipFile, dataStart: number, byteLength: number): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zipFile.openReadStreamLowLevel(dataStart, byteLength, 0, byteLength, false, null, (error, stream) => {
      if (error) reject(error);
      else resolve(stream);
    });
  });
}

async function* takeAll(stream: Readable, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  const abort = () => stream.destroy(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    for await (const chunk of stream) yield chunk;
    signal?.throwIfAborted();
  } finally {
    signal?.removeEventListener('abort', abort);
    stream.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^Z_/.test(String(error.code));
}
