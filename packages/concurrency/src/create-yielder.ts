import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long an import may keep the thread to itself. */
const MAX_MS = 20;

/**
 * Makes a function to await between batches: it lets the event loop turn once the caller has had the thread for a while.
 * Without it, rows that need no waiting would block every request, cancellation and heartbeat of the process.
 *
 * @param nowMs a monotonic clock
 */
export function createYielder(nowMs: () => number = () => performance.now()): () => Promise<void> {
  let sinceMs = nowMs();
  return async () => {
    if (nowMs() - sinceMs < MAX_MS) return;
    await nextTurn();
    sinceMs = nowMs();
  };
}
