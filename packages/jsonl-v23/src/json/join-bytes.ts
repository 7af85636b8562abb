import type { OwnBytes } from '../arguments/own-bytes.ts';

/** Chunks of bytes in one piece. */
export function joinBytes(chunks: readonly Uint8Array[]): OwnBytes {
  const joined = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
