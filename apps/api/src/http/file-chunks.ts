import { open } from 'node:fs/promises';
import type { FileLocation } from './receive-upload.ts';

/** The bytes of files, one after another, in chunks of exactly `chunkBytes`; the last one may be shorter. */
export async function* fileChunks(
  files: readonly FileLocation[],
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for (const file of files) {
    for await (const piece of piecesOf(file, chunkBytes)) {
      for (let taken = 0; taken < piece.byteLength; ) {
        const count = Math.min(piece.byteLength - taken, chunkBytes - filled);
        chunk.set(piece.subarray(taken, taken + count), filled);
        taken += count;
        filled += count;
        if (filled < chunkBytes) continue;
        yield chunk;
        chunk = Buffer.allocUnsafe(chunkBytes);
        filled = 0;
      }
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

/** The bytes of a file; each piece is valid until the next one. */
async function* piecesOf({ path, content }: FileLocation, pieceBytes: number): AsyncGenerator<Uint8Array> {
  if (content !== null) {
    yield content;
    return;
  }
  await using file = await open(path);
  const piece = Buffer.allocUnsafe(pieceBytes);
  for (;;) {
    const { bytesRead } = await file.read(piece, 0, pieceBytes);
    if (bytesRead === 0) return;
    yield piece.subarray(0, bytesRead);
  }
}
