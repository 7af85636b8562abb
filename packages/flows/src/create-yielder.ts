import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long a flow may keep the thread to itself. */
const MAX_MS = 20;

/**
 * Makes a function that a flow awaits between batches: it lets the event loop turn once the flow has had the thread
 * for a while. Rows that are there already would otherwise pass without one, and the process would answer nobody,
 * hear of no cancellation and keep no heartbeat meanwhile.
 */
export function createYielder(): () => Promise<void> {
  let sinceMs = performance.now();
  return async () => {
    if (performance.now() - sinceMs < MAX_MS) return;
    await nextTurn();
    sinceMs = performance.now();
  };
}
