export type Turns = ReturnType<typeof createTurns>;

/** Pieces of work between which the event loop looks for other events. */
const PIECES_AT_ONCE = 4;

/**
 * Spreads the work of a process over turns of the event loop, so that it responds to requests in between. Work that arrives
 * alone continues immediately. Of work that arrives together, such as the responses to a hundred requests, a few pieces
 * continue in each turn.
 */
export function createTurns() {
  const waiting: (() => void)[] = [];
  /** True while the event loop has not turned since the last piece; and the number of pieces that may still run. */
  let hasBegun = false;
  let left = PIECES_AT_ONCE;
  const begin = (): void => {
    hasBegun = true;
    left = PIECES_AT_ONCE;
    setImmediate(turn);
  };
  const turn = (): void => {
    hasBegun = false;
    if (waiting.length === 0) return;
    begin();
    const resumed = waiting.splice(0, PIECES_AT_ONCE);
    left -= resumed.length;
    for (const resume of resumed) resume();
  };
  return {
    /** Resolves when the caller may work for about a millisecond: immediately, or after others that came before. */
    async take(): Promise<void> {
      if (!hasBegun) begin();
      if (left > 0) left -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}
