import { deflateRawSync } from 'node:zlib';
import { MANIFEST_FILE } from '../../package/layout.ts';
import type { PlannedEntry } from '../../write/plan-package.ts';
import type { PackagePlan } from '../../write/prepare-package.ts';
import { DEFLATE_LEVEL } from '../../write/write-package.ts';
import { untilAborted } from '../../zip/byte-source.ts';
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
      const bytes = packed === null ? bytesOf(entry) : stoppable(packed.read(), signal);
      if (bytes instanceof Uint8Array && !entry.compress) {
        // Most files of a package are small, and a stream for each would cost more than its bytes.
        archive.add(sum.add(bytes));
      } else {
        const pieces = packed === null ? summed(piecesOf(bytes), sum, signal) : piecesOf(bytes);
        const deflate = isSmall(entry) ? deflatedAtOnce : deflated;
        for await (const piece of entry.compress && packed === null ? deflate(pieces) : pieces) {
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

/** Passes bytes on, and adds them up. @throws the signal's reason immediately, also while the source is silent */
async function* summed(
  source: AsyncIterable<Uint8Array>,
  sum: ByteSum,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stoppable(source, signal)) yield sum.add(chunk);
}

/** Passes bytes on. @throws the signal's reason immediately, also while the source is silent */
async function* stoppable(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let isOpen = true;
  try {
    for (;;) {
      const { done, value } = await untilAborted(() => iterator.next(), signal);
      if (done === true) {
        isOpen = false;
        return;
      }
      yield value;
    }
  } finally {
    if (isOpen) await iterator.return?.();
  }
}

/** Entries up to this size are deflated in a millisecond: on another thread it would take longer. */
const SMALL_BYTES = 32 * 1024;

function isSmall({ content }: PlannedEntry): boolean {
  if ('text' in content) return content.text.length <= SMALL_BYTES;
  return 'digest' in content && content.digest !== null && content.digest.bytes <= SMALL_BYTES;
}

async function* deflatedAtOnce(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of bytes) parts.push(part);
  yield deflateRawSync(Buffer.concat(parts), { level: DEFLATE_LEVEL });
}
