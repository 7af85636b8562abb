import { createYielder } from './create-yielder.ts';

/** Reading this much JSON takes some milliseconds if it consists of braces. */
const SLICE_BYTES = 16 * 1024;

/**
 * The bytes of a source in slices, between which the event loop runs: chunks that arrive whole, and bytes in memory,
 * would otherwise be read in one turn.
 */
export async function* inSlices(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const nextTurn = createYielder();
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      yield chunk.subarray(at, at + SLICE_BYTES);
      const turn = nextTurn();
      if (turn !== undefined) await turn;
    }
  }
}
