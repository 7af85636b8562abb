import { open } from 'node:fs/promises';

/** The bytes of files, one after another, in chunks of exactly `chunkBytes`; the last one may be shorter. */
export async function* fileChunks(paths: readonly string[], chunkBytes: number): AsyncGenerator<Uint8Array> {
  let chunk = Buffer.allocUnsafe(chunkBytes);
  let filled = 0;
  for (const path of paths) {
    await using file = await open(path);
    for (;;) {
      const { bytesRead } = await file.read(chunk, filled, chunkBytes - filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
      if (filled < chunkBytes) continue;
      yield chunk;
      chunk = Buffer.allocUnsafe(chunkBytes);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}
