import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { BlockBuffer } from './block-buffer.ts';
import { createDeflater } from './create-deflater.ts';
import { dataDescriptor, directoryRecord, endRecords, localHeader } from './zip-records.ts';

/** A file of an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Files up to this size are deflated in one piece: a stream for each would cost more. */
const SMALL_BYTES = 64 * 1024;

/** Writes files as a ZIP archive, as fast as it is read. Holds one block, and the directory: 46 bytes and the name of each. */
export async function* zipFiles(files: AsyncIterable<ZippedFile>): AsyncGenerator<Uint8Array> {
  const blocks = new BlockBuffer();
  const directory: Buffer[] = [];
  for await (const file of files) {
    const name = Buffer.from(file.name);
    const sum = { crc32: 0, size: 0 };
    const start = blocks.position;
    blocks.add(localHeader(name, true));
    const dataStart = blocks.position;
    for await (const piece of deflated(file.bytes, sum)) {
      blocks.add(piece);
      if (blocks.isFull) yield blocks.take();
    }
    const done = { ...sum, name, start, compressedSize: blocks.position - dataStart, isDeflated: true };
    blocks.add(dataDescriptor(done));
    directory.push(directoryRecord(done));
    if (blocks.isFull) yield blocks.take();
  }
  const directoryStart = blocks.position;
  for (const record of directory) {
    blocks.add(record);
    if (blocks.isFull) yield blocks.take();
  }
  blocks.add(endRecords(directory.length, directoryStart, blocks.position));
  yield blocks.take();
}

async function* deflated(
  bytes: AsyncIterable<Uint8Array>,
  sum: { crc32: number; size: number },
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let isWhole = false;
  while (sum.size <= SMALL_BYTES && !isWhole) {
    const { done, value } = await iterator.next();
    if (done === true) isWhole = true;
    else head.push(added(value, sum));
  }
  if (isWhole) {
    yield deflateRawSync(Buffer.concat(head));
    return;
  }
  async function* all(): AsyncGenerator<Uint8Array> {
    yield* head;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      yield added(next.value, sum);
    }
  }
  const deflater = createDeflater();
  const writing = pipeline(Readable.from(all(), { objectMode: false }), deflater, { end: true });
  // The loop over the deflater gets the same error.
  writing.catch(() => undefined);
  for await (const piece of deflater) yield piece as Uint8Array;
  await writing;
}

function added(chunk: Uint8Array, sum: { crc32: number; size: number }): Uint8Array {
  sum.crc32 = crc32(chunk, sum.crc32);
  sum.size += chunk.byteLength;
  return chunk;
}
