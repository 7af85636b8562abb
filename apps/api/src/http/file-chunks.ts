import { open } from 'node:fs/promises';

/** The bytes of a file in chunks of exactly `chunkBytes`; the last one may be shorter. */
export async function* fileChunks(path: string, chunkBytes: number): AsyncGenerator<Uint8Array> {
  await using file = await open(path);
  for (;;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    let filled = 0;
    while (filled < chunkBytes) {
      const { bytesRead } = await file.read(chunk, filled, chunkBytes - filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    if (filled > 0) yield chunk.subarray(0, filled);
    if (filled < chunkBytes) return;
  }
}
