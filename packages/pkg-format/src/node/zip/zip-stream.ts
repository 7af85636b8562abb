import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { MANIFEST_FILE } from '../../package/layout.ts';
import type { PackagePlan } from '../../write/prepare-package.ts';
import { DEFLATE_LEVEL } from '../../write/write-package.ts';
import { BlockBuffer } from './block-buffer.ts';
import {
  dataDescriptor,
  directoryRecord,
  endRecords,
  localHeader,
  type WrittenEntry,
} from './zip-records.ts';

/**
 * Writes a plan as an archive, as fast as the result is read, in blocks that hold many small entries. The first bytes
 * leave before the plan exists: `prepare` runs after the header of the first entry. Holds one block, and some hundred
 * bytes for each entry.
 *
 * Stopping early, or the signal, aborts the signal of `prepare` and closes all sources.
 */
export async function* zipStream(
  prepare: (signal: AbortSignal) => Promise<PackagePlan>,
  callerSignal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const stopped = new AbortController();
  const signal = callerSignal ? AbortSignal.any([callerSignal, stopped.signal]) : stopped.signal;
  const written: WrittenEntry[] = [];
  const blocks = new BlockBuffer();
  let preparing: Promise<PackagePlan> | undefined;
  try {
    signal.throwIfAborted();
    // The plan says how each entry is written; the first is always the manifest, which is compressed.
    blocks.add(localHeader(Buffer.from(MANIFEST_FILE), true));
    yield blocks.take();
    preparing = prepare(signal);
    const abortable = untilAborted(signal);
    const { entries, bytesOf, packedOf } = await abortable(preparing);
    for (const entry of entries) {
      const name = Buffer.from(entry.path);
      const start = written.length === 0 ? 0 : blocks.position;
      if (written.length > 0) blocks.add(localHeader(name, entry.compress));
      const dataStart = blocks.position;
      const packed = packedOf(entry);
      const sum = { crc32: packed?.crc32 ?? 0, size: packed?.bytes ?? 0 };
      const bytes =
        packed === null ? summed(bytesOf(entry), sum, abortable) : stoppable(packed.read(), abortable);
      for await (const chunk of entry.compress && packed === null ? deflated(bytes) : bytes) {
        blocks.add(chunk);
        if (blocks.isFull) yield blocks.take();
      }
      const compressedSize = blocks.position - dataStart;
      const done = { ...sum, name, start, compressedSize, isDeflated: entry.compress };
      blocks.add(dataDescriptor(done));
      written.push(done);
    }
    const directoryStart = blocks.position;
    for (const entry of written) {
      blocks.add(directoryRecord(entry));
      if (blocks.isFull) yield blocks.take();
    }
    blocks.add(endRecords(written.length, directoryStart, blocks.position));
    yield blocks.take();
  } finally {
    stopped.abort();
    await preparing?.catch(() => undefined);
  }
}

/** Passes bytes on, and adds them up. @throws the signal's reason at once, also while the source is silent */
async function* summed(
  source: AsyncIterable<Uint8Array>,
  sum: { crc32: number; size: number },
  abortable: Abortable,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stoppable(source, abortable)) {
    sum.crc32 = crc32(chunk, sum.crc32);
    sum.size += chunk.byteLength;
    yield chunk;
  }
}

/** Passes bytes on. @throws the signal's reason at once, also while the source is silent */
async function* stoppable(
  source: AsyncIterable<Uint8Array>,
  abortable: Abortable,
): AsyncGenerator<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  let isOpen = true;
  try {
    for (;;) {
      const { done, value } = await abortable(iterator.next());
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

async function* deflated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: false });
  const deflater = createDeflateRaw({ level: DEFLATE_LEVEL });
  // The callback is required; the loop over the deflater gets the same errors.
  pipeline(source, deflater, () => undefined);
  try {
    yield* deflater;
  } finally {
    source.destroy();
    if (!source.closed) await new Promise((resolve) => source.once('close', resolve));
  }
}

type Abortable = <T>(promise: Promise<T>) => Promise<T>;

/** Waits for one promise after another; the signal rejects the last one. One listener serves all of them. */
function untilAborted(signal: AbortSignal): Abortable {
  let rejectLast: (reason: unknown) => void = () => undefined;
  signal.addEventListener('abort', () => rejectLast(signal.reason), { once: true });
  return (promise) =>
    new Promise((resolve, reject) => {
      rejectLast = reject;
      promise.then(resolve, reject);
      if (signal.aborted) reject(signal.reason);
    });
}
