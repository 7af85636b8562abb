import { abortable, untilAborted } from '@svc/jsonl-v23/streams';
import { MANIFEST_FILE } from '../../package/layout.ts';
import type { PackagePlan } from '../../write/prepare-package.ts';
import { ArchiveWriter, ByteSum } from './archive-writer.ts';
import { deflated } from './create-deflater.ts';

/**
 * Writes a plan as an archive, as fast as the result is read, in blocks that hold many small entries. The first bytes
 * leave before the plan exists: `prepare` runs after the header of the first entry. Holds one block, and the directory: 46
 * bytes and the path of each entry.
 *
 * Stopping early, or the signal, aborts the signal of `prepare` and closes all sources.
 */
export async function* zipStream(
  prepare: (signal: AbortSignal) => Promise<PackagePlan>,
  callerSignal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stopped = new AbortController();
  const signal = callerSignal ? AbortSignal.any([callerSignal, stopped.signal]) : stopped.signal;
  const archive = new ArchiveWriter();
  let preparing: Promise<PackagePlan> | undefined;
  try {
    signal.throwIfAborted();
    // The plan says how each entry is written; the first is always the manifest, which is compressed.
    archive.begin(MANIFEST_FILE, true);
    yield archive.take();
    preparing = prepare(signal);
    const plan = preparing;
    const { entries, bytesOf, packedOf } = await untilAborted(() => plan, signal);
    let isFirst = true;
    for (const entry of entries) {
      signal.throwIfAborted();
      if (!isFirst) archive.begin(entry.path, entry.compress);
      isFirst = false;
      const packed = packedOf(entry);
      const sum = new ByteSum();
      const bytes = packed === null ? bytesOf(entry) : abortable(packed.read(), signal);
      if (bytes instanceof Uint8Array && !entry.compress) {
        // Most files of a package are small, and a stream for each would cost more than its bytes.
        archive.add(sum.add(bytes));
      } else {
        const pieces = packed === null ? summed(abortable(piecesOf(bytes), signal), sum) : piecesOf(bytes);
        for await (const piece of entry.compress && packed === null ? deflated(pieces) : pieces) {
          archive.add(piece);
          if (archive.isFull) yield archive.take();
        }
      }
      archive.endEntry(packed === null ? sum : { crc32: packed.crc32, size: packed.bytes });
      if (archive.isFull) yield archive.take();
    }
    yield* archive.end();
  } finally {
    stopped.abort();
    await preparing?.catch(() => undefined);
  }
}

async function* piecesOf(bytes: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (bytes instanceof Uint8Array) yield bytes;
  else yield* bytes;
}

async function* summed(source: AsyncIterable<Uint8Array>, sum: ByteSum): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) yield sum.add(chunk);
}

/** A file of an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Small files of {@link zipFiles} are many: a stream for each would cost more, and a better level costs little. */
const SMALL_FILES = { bytes: 64 * 1024, level: 6 };

/** Writes files as a ZIP archive, as fast as it is read. Holds one block, and the directory: 46 bytes and the name of each. */
export async function* zipFiles(files: AsyncIterable<ZippedFile>): AsyncGenerator<Uint8Array> {
  const archive = new ArchiveWriter();
  for await (const { name, bytes } of files) {
    const sum = new ByteSum();
    archive.begin(name, true);
    for await (const piece of deflated(summed(bytes, sum), SMALL_FILES)) {
      archive.add(piece);
      if (archive.isFull) yield archive.take();
    }
    archive.endEntry(sum);
    if (archive.isFull) yield archive.take();
  }
  yield* archive.end();
}
