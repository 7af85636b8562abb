import JSZip from 'jszip';
import { entryError } from '../errors.ts';
import type { EntryCeiling } from './check-entry.ts';
import { measureDeflate } from './measure-deflate.ts';
import type { ZipEntry } from './read-directory.ts';

const CHUNK_BYTES = 64 * 1024;

/** What a `JSZipObject` offers beyond its type declarations. */
interface Streamable {
  internalStream(type: 'uint8array'): JSZip.JSZipStreamHelper<Uint8Array>;
}

/**
 * The uncompressed bytes of an entry of an archive in memory, by jszip.
 *
 * A deflate stream is measured first: one that gives more than its ceiling allows is refused before a byte is unpacked,
 * and one that is broken, or does not end where the entry ends, is `package_corrupt`. Then jszip gets the entry as an
 * archive of its own, so that nothing depends on how it understands the rest.
 */
export async function* inflateInMemory(
  archive: Uint8Array,
  entry: ZipEntry,
  ceiling: EntryCeiling,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const data = archive.subarray(entry.dataStart, entry.dataStart + entry.compressedSize);
  if (entry.method === 'stored') {
    yield* slices(data, signal);
    return;
  }
  const measure = measureDeflate(data, ceiling.bytes);
  if (measure.outcome === 'broken')
    throw entryError('package_corrupt', entry.name, 'holds broken deflate data');
  if (measure.outcome === 'stopped') throw ceiling.error();
  if (measure.consumedBytes !== data.byteLength)
    throw entryError('package_corrupt', entry.name, 'has bytes after the end of its deflate data');
  if (measure.producedBytes > 0) yield* unzip(data, measure.producedBytes, entry, signal);
}

async function* slices(data: Uint8Array, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < data.byteLength; at += CHUNK_BYTES) {
    signal?.throwIfAborted();
    yield data.subarray(at, at + CHUNK_BYTES);
  }
}

/** Pulls from jszip's push stream: it is paused while more than a chunk waits. */
async function* unzip(
  data: Uint8Array,
  size: number,
  entry: ZipEntry,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const zip = await JSZip.loadAsync(singleEntryArchive(data, size));
  const file = zip.file(ENTRY_NAME) as unknown as Streamable;
  const stream = file.internalStream('uint8array');
  const waiting: Uint8Array[] = [];
  let ended = false;
  let failure: unknown;
  let wake = () => {};
  stream.on('data', (chunk) => {
    waiting.push(chunk);
    stream.pause();
    wake();
  });
  stream.on('end', () => {
    ended = true;
    wake();
  });
  stream.on('error', (error) => {
    failure = error;
    wake();
  });
  try {
    for (;;) {
      signal?.throwIfAborted();
      const chunk = waiting.shift();
      if (chunk) {
        yield chunk;
        continue;
      }
      if (failure) throw entryError('package_corrupt', entry.name, 'cannot be inflated', failure);
      if (ended) return;
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      stream.resume();
      await woken;
    }
  } finally {
    stream.pause();
  }
}

const ENTRY_NAME = 'e';

/** A complete archive (APPNOTE 4.3) around one deflated entry. */
function singleEntryArchive(data: Uint8Array, size: number): Uint8Array {
  const directoryStart = 30 + ENTRY_NAME.length + data.byteLength;
  const directoryBytes = 46 + ENTRY_NAME.length;
  const archive = new Uint8Array(directoryStart + directoryBytes + 22);
  const view = new DataView(archive.buffer);
  const nameByte = ENTRY_NAME.charCodeAt(0);

  view.setUint32(0, 0x04034b50, true);
  view.setUint16(8, 8, true);
  view.setUint32(18, data.byteLength, true);
  view.setUint32(22, size, true);
  view.setUint16(26, ENTRY_NAME.length, true);
  archive[30] = nameByte;
  archive.set(data, 31);

  view.setUint32(directoryStart, 0x02014b50, true);
  view.setUint16(directoryStart + 10, 8, true);
  view.setUint32(directoryStart + 20, data.byteLength, true);
  view.setUint32(directoryStart + 24, size, true);
  view.setUint16(directoryStart + 28, ENTRY_NAME.length, true);
  archive[directoryStart + 46] = nameByte;

  const endStart = directoryStart + directoryBytes;
  view.setUint32(endStart, 0x06054b50, true);
  view.setUint16(endStart + 8, 1, true);
  view.setUint16(endStart + 10, 1, true);
  view.setUint32(endStart + 12, directoryBytes, true);
  view.setUint32(endStart + 16, directoryStart, true);
  return archive;
}
