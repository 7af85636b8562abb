import { finished } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import type { Pack } from '../../write/scan-dataset.ts';
import { createDeflater } from './create-deflater.ts';

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
