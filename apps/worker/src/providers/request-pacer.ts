import { setTimeout as sleep } from 'node:timers/promises';

/** Spaces the requests of one run. */
export interface RequestPacer {
  /**
   * Waits for the turn of one request.
   *
   * @returns how long it waited, in milliseconds
   * @throws the signal's reason when it is aborted
   */
  turn(signal: AbortSignal): Promise<number>;
}

export interface PacerDeps {
  /** A monotonic clock. Default: `performance.now`. */
  readonly nowMs?: () => number;
  /** Waits; rejects when the signal is aborted. Default: a timer. */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Makes a pacer whose turns are evenly spaced: none is made up for, so that there is no burst after a pause.
 *
 * @param perMinute null for no limit
 */
export function createRequestPacer(perMinute: number | null, deps: PacerDeps = {}): RequestPacer {
  if (perMinute === null) return { turn: async () => 0 };
  const { nowMs = () => performance.now() } = deps;
  const { wait = (delayMs, signal) => sleep(delayMs, undefined, { signal }) } = deps;
  const intervalMs = 60_000 / perMinute;
  let nextMs = Number.NEGATIVE_INFINITY;
  return {
    async turn(signal) {
      signal.throwIfAborted();
      const startMs = nowMs();
      const turnMs = Math.max(startMs, nextMs);
      nextMs = turnMs + intervalMs;
      if (turnMs > startMs) await wait(turnMs - startMs, signal).catch(() => undefined);
      signal.throwIfAborted();
      return turnMs - startMs;
    },
  };
}
