/** Bytes between two turns of the event loop: some 10 ms of hashing. */
const TURN_BYTES = 4 * 1024 * 1024;

/** Passes on the pieces of something large in memory; the event loop runs after every 4 MiB. */
export async function* interruptible(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const piece of pieces) {
    yield piece;
    bytes += piece.byteLength;
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await new Promise((resolve) => setTimeout(resolve));
  }
}
