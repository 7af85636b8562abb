import { yieldToEventLoop } from '#runtime';

/** How long work may keep the thread by default, in milliseconds. */
const MAX_TURN_MS = 4;

/**
 * Makes a function to call between pieces of work: once they have had the thread for some milliseconds, it returns a
 * promise to await, after which the event loop has run.
 *
 * @example
 * const turn = nextTurn();
 * if (turn !== undefined) await turn;
 */
export function createYielder(maxTurnMs: number = MAX_TURN_MS): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  return () => {
    if (performance.now() - sinceMs < maxTurnMs) return undefined;
    return yieldToEventLoop().then(() => {
      sinceMs = performance.now();
    });
  };
}
