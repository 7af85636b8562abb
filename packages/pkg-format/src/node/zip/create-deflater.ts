import { pipeline, Readable, Transform } from 'node:stream';
import { constants, createDeflateRaw, deflateRawSync } from 'node:zlib';
import { MAX_WRITTEN_EXPANSION, UNPADDED_BYTES } from '../../limits.ts';
import type { Pack } from '../../write/scan-dataset.ts';
import { DEFLATE_LEVEL } from '../../write/write-package.ts';
import { ByteSum } from './archive-writer.ts';

const CHUNK_BYTES = 64 * 1024;
/** Bytes that the compressor buffers. */
const AHEAD_BYTES = 512 * 1024;

/** An empty stored block of a deflate stream (RFC 1951 section 3.2.4), which adds nothing to what comes out. */
const EMPTY_BLOCK = [0, 0, 0, 0xff, 0xff];
const LAST_EMPTY_BLOCK = [1, 0, 0, 0xff, 0xff];

/**
 * Deflates a large entry of a package on another thread. Empty blocks pad content that would expand more than
 * `MAX_WRITTEN_EXPANSION` times: a reader refuses archives that expand too much. The result does not depend on how the
 * bytes are cut into chunks.
 */
export function createDeflater(): Transform {
  const deflate = createDeflateRaw({ level: DEFLATE_LEVEL, chunkSize: CHUNK_BYTES });
  let inputBytes = 0;
  let outputBytes = 0;
  const deflater = new Transform({
    writableHighWaterMark: AHEAD_BYTES,
    readableHighWaterMark: AHEAD_BYTES,
    transform(chunk: Uint8Array, _encoding, done) {
      inputBytes += chunk.byteLength;
      deflate.write(chunk, done);
    },
    flush(done) {
      // Some bytes are still to come, so this applies to most entries.
      if (inputBytes <= Math.max(UNPADDED_BYTES, outputBytes * MAX_WRITTEN_EXPANSION)) {
        deflate.once('end', done);
        deflate.end();
        return;
      }
      // Everything so far comes out, up to a whole byte, and the stream stays open for more blocks.
      deflate.flush(constants.Z_SYNC_FLUSH, () => {
        this.push(padding(Math.ceil(inputBytes / MAX_WRITTEN_EXPANSION) - outputBytes));
        done();
      });
    },
    destroy(error, done) {
      deflate.destroy();
      done(error);
    },
  });
  deflate.on('data', (piece: Buffer) => {
    outputBytes += piece.byteLength;
    deflater.push(piece);
  });
  deflate.on('error', (error) => deflater.destroy(error));
  return deflater;
}

/** Up to this size, deflating takes a millisecond: on another thread it would take longer. */
const SMALL_BYTES = 32 * 1024;

/** Deflates bytes as fast as the result is read, more than `small` on another thread and at the level of packages. */
export async function* deflated(
  bytes: AsyncIterable<Uint8Array>,
  small: { readonly bytes: number; readonly level: number } = { bytes: SMALL_BYTES, level: DEFLATE_LEVEL },
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]();
  try {
    const head: Uint8Array[] = [];
    for (let byteLength = 0; byteLength <= small.bytes; ) {
      const { done, value } = await iterator.next();
      if (done === true) {
        yield deflateRawSync(Buffer.concat(head), { level: small.level });
        return;
      }
      head.push(value);
      byteLength += value.byteLength;
    }
    async function* all(): AsyncGenerator<Uint8Array> {
      yield* head;
      yield* { [Symbol.asyncIterator]: () => iterator };
    }
    yield* deflatedOnThread(all());
  } finally {
    await iterator.return?.();
  }
}

async function* deflatedOnThread(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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

/** Empty blocks of at least `byteLength` bytes, which end the stream. */
function padding(byteLength: number): Buffer {
  const count = Math.max(0, Math.ceil(byteLength / EMPTY_BLOCK.length) - 1);
  return Buffer.concat([
    Buffer.alloc(count * EMPTY_BLOCK.length, Buffer.from(EMPTY_BLOCK)),
    Buffer.from(LAST_EMPTY_BLOCK),
  ]);
}

/** Enough for some 40 MB of lines that embed files: 200,000 items with a file each. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

/** Keeps files deflated in memory, as long as all of them together are small. */
export function createPack(): Pack {
  let leftBytes = MAX_KEPT_BYTES;
  return async (bytes) => {
    const iterator = bytes[Symbol.asyncIterator]();
    const kept: Uint8Array[] = [];
    const sum = new ByteSum();
    // A file without room is not closed with the deflater: it is read to its end here, and again for the archive.
    const unclosed: AsyncIterator<Uint8Array> = {
      next: async () => {
        const next = await iterator.next();
        if (next.done !== true) sum.add(next.value);
        return next;
      },
    };
    try {
      for await (const piece of leftBytes < 0 ? [] : deflated({ [Symbol.asyncIterator]: () => unclosed })) {
        leftBytes -= piece.byteLength;
        if (leftBytes < 0) break;
        // A view would keep all of the deflater's buffer, and a small file needs little of it.
        kept.push(Uint8Array.from(piece));
      }
      if (leftBytes < 0)
        for (let next = await iterator.next(); next.done !== true; ) next = await iterator.next();
    } finally {
      await iterator.return?.();
    }
    if (leftBytes < 0) return null;
    return { isDeflated: true, crc32: sum.crc32, bytes: sum.size, read: () => Readable.from(kept) };
  };
}
