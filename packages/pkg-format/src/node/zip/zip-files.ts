import { deflateRawSync } from 'node:zlib';
import { ArchiveWriter, ByteSum } from './archive-writer.ts';
import { deflated } from './create-deflater.ts';

/** A file of an archive. */
export interface ZippedFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** Files up to this size are deflated in one piece: a stream for each would cost more. */
const SMALL_BYTES = 64 * 1024;

/** Writes files as a ZIP archive, as fast as it is read. Holds one block, and the directory: 46 bytes and the name of each. */
export async function* zipFiles(files: AsyncIterable<ZippedFile>): AsyncGenerator<Uint8Array> {
  const archive = new ArchiveWriter();
  for await (const { name, bytes } of files) {
    const sum = new ByteSum();
    archive.begin(name, true);
    for await (const piece of deflatedFile(bytes, sum)) {
      archive.add(piece);
      if (archive.isFull) yield archive.take();
    }
    archive.endEntry(sum);
    if (archive.isFull) yield archive.take();
  }
  yield* archive.end();
}

async function* deflatedFile(bytes: AsyncIterable<Uint8Array>, sum: ByteSum): AsyncGenerator<Uint8Array> {
  const pieces = summed(bytes, sum);
  try {
    const head: Uint8Array[] = [];
    let isWhole = false;
    while (sum.size <= SMALL_BYTES && !isWhole) {
      const { done, value } = await pieces.next();
      if (done === true) isWhole = true;
      else head.push(value);
    }
    if (isWhole) {
      yield deflateRawSync(Buffer.concat(head));
      return;
    }
    async function* all(): AsyncGenerator<Uint8Array> {
      yield* head;
      yield* pieces;
    }
    yield* deflated(all());
  } finally {
    await pieces.return(undefined);
  }
}

async function* summed(bytes: AsyncIterable<Uint8Array>, sum: ByteSum): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) yield sum.add(piece);
}
