import type { ByteSource } from '@svc/pkg-format';

/** The bytes of files, one after another, in chunks of exactly `chunkBytes`; the last one may be shorter. */
export async function* fileChunks(
  files: readonly ByteSource[],
  chunkBytes: number,
): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for (const file of files) {
    for (let at = 0; at < file.byteLength; ) {
      const piece = await file.read(at, Math.min(file.byteLength, at + chunkBytes - filled));
      if (piece.byteLength === 0) throw new Error('A staged file became shorter.');
      chunk.set(piece, filled);
      at += piece.byteLength;
      filled += piece.byteLength;
      if (filled < chunkBytes) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
