import { pipeline, Readable, Transform } from 'node:stream';
import { finished } from 'node:stream/promises';
import { constants, crc32, createDeflateRaw } from 'node:zlib';
import { MAX_WRITTEN_EXPANSION, UNPADDED_BYTES } from '../../limits.ts';
import type { Pack } from '../../write/scan-dataset.ts';
import { DEFLATE_LEVEL } from '../../write/write-package.ts';

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

/** Deflates bytes on another thread, as fast as the result is read. */
export async function* deflated(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
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
  return async (source) => {
    const deflater = createDeflater();
    const kept: Uint8Array[] = [];
    const sum = { crc32: 0, bytes: 0 };
    deflater.on('data', (piece: Buffer) => {
      leftBytes -= piece.byteLength;
      // A view would keep all of the deflater's buffer, and a small file needs little of it.
      if (leftBytes >= 0) kept.push(Uint8Array.from(piece));
    });
    // finished() throws it.
    deflater.on('error', () => undefined);
    let writing = Promise.resolve();
    try {
      for await (const chunk of source) {
        // A file without room is read to its end here, and again for the archive.
        if (leftBytes < 0) continue;
        sum.crc32 = crc32(chunk, sum.crc32);
        sum.bytes += chunk.byteLength;
        // A thread deflates one chunk while the next one is read.
        await writing;
        writing = new Promise((resolve) => deflater.write(chunk, () => resolve()));
      }
      await writing;
      if (leftBytes < 0) return null;
      await finished(deflater.end());
      return leftBytes < 0 ? null : { ...sum, isDeflated: true, read: () => each(kept) };
    } finally {
      deflater.destroy();
    }
  };
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}
