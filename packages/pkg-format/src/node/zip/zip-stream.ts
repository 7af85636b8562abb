import { pipeline, Readable } from 'node:stream';
import { crc32, deflateRawSync } from 'node:zlib';
import { MANIFEST_FILE } from '../../package/layout.ts';
import type { PlannedEntry } from '../../write/plan-package.ts';
import type { PackagePlan } from '../../write/prepare-package.ts';
import { DEFLATE_LEVEL } from '../../write/write-package.ts';
import { BlockBuffer } from './block-buffer.ts';
import { createDeflater } from './create-deflater.ts';
import { dataDescriptor, directoryRecord, endRecords, localHeader } from './zip-records.ts';

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
  const directory = new ByteList();
  let entryCount = 0;
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
      signal.throwIfAborted();
      const name = Buffer.from(entry.path);
      const start = entryCount === 0 ? 0 : blocks.position;
      if (entryCount > 0) blocks.add(localHeader(name, entry.compress));
      const dataStart = blocks.position;
      const packed = packedOf(entry);
      const sum = { crc32: packed?.crc32 ?? 0, size: packed?.bytes ?? 0 };
      const bytes = packed === null ? bytesOf(entry) : stoppable(packed.read(), abortable);
      if (bytes instanceof Uint8Array && !entry.compress) {
        // Most files of a package are small, and a stream for each would cost more than its bytes.
        blocks.add(added(bytes, sum));
      } else {
        const pieces = packed === null ? summed(piecesOf(bytes), sum, abortable) : piecesOf(bytes);
        const deflate = isSmall(entry) ? deflatedAtOnce : deflated;
        for await (const piece of entry.compress && packed === null ? deflate(pieces) : pieces) {
          blocks.add(piece);
          if (blocks.isFull) yield blocks.take();
        }
      }
      const compressedSize = blocks.position - dataStart;
      const done = { ...sum, name, start, compressedSize, isDeflated: entry.compress };
      blocks.add(dataDescriptor(done));
      directory.add(directoryRecord(done));
      entryCount += 1;
      if (blocks.isFull) yield blocks.take();
    }
    const directoryStart = blocks.position;
    for (const block of directory.blocks()) {
      blocks.add(block);
      if (blocks.isFull) yield blocks.take();
    }
    blocks.add(endRecords(entryCount, directoryStart, blocks.position));
    yield blocks.take();
  } finally {
    stopped.abort();
    await preparing?.catch(() => undefined);
  }
}

interface Sum {
  crc32: number;
  size: number;
}

function added(chunk: Uint8Array, sum: Sum): Uint8Array {
  sum.crc32 = crc32(chunk, sum.crc32);
  sum.size += chunk.byteLength;
  return chunk;
}

async function* piecesOf(bytes: Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (bytes instanceof Uint8Array) yield bytes;
  else yield* bytes;
}

/** Passes bytes on, and adds them up. @throws the signal's reason immediately, also while the source is silent */
async function* summed(
  source: AsyncIterable<Uint8Array>,
  sum: Sum,
  abortable: Abortable,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of stoppable(source, abortable)) yield added(chunk, sum);
}

/** Passes bytes on. @throws the signal's reason immediately, also while the source is silent */
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

async function* deflated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const source = Readable.from(bytes, { objectMode: false });
  const deflater = createDeflater();
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

const BLOCK_BYTES = 64 * 1024;

/** Keeps many small records, without an object for each. */
class ByteList {
  readonly #blocks: Uint8Array[] = [];
  #last = Buffer.alloc(0);
  #usedBytes = 0;

  /** Adds a copy of a record. */
  add(record: Uint8Array): void {
    if (this.#usedBytes + record.byteLength > this.#last.byteLength) {
      this.#end();
      this.#last = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, record.byteLength));
    }
    this.#last.set(record, this.#usedBytes);
    this.#usedBytes += record.byteLength;
  }

  /** All records, in blocks. */
  blocks(): readonly Uint8Array[] {
    this.#end();
    return this.#blocks;
  }

  #end(): void {
    if (this.#usedBytes > 0) this.#blocks.push(this.#last.subarray(0, this.#usedBytes));
    this.#last = this.#last.subarray(this.#usedBytes);
    this.#usedBytes = 0;
  }
}
