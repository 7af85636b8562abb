import { yieldToEventLoop } from '#runtime';

/** How long work may keep the thread, in milliseconds. */
const MAX_TURN_MS = 4;

/**
 * Makes a function to call between pieces of work: once they have had the thread for some milliseconds, it returns a
 * promise to await, after which the event loop has run.
 *
 * @example
 * const turn = nextTurn();
 * if (turn !== undefined) await turn;
 */
export function createYielder(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < MAX_TURN_MS) return undefined;
    return yieldToEventLoop().then(() => {
      sinceMs = performance.now();
    });
  };
}

/** One signal for both; undefined when there is none. */
export function joinSignals(
  first: AbortSignal | undefined,
  second: AbortSignal | undefined,
): AbortSignal | undefined {
  if (first === undefined || second === undefined || first === second) return first ?? second;
  return AbortSignal.any([first, second]);
}

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
