import { setTimeout as delay } from 'node:timers/promises';

/** Wakes one waiter. A notification that comes while none waits is kept for the next one. */
export function createNotifier() {
  let isNotified = false;
  let wake: (() => void) | undefined;
  return {
    notify: (): void => {
      isNotified = true;
      wake?.();
    },
    /** Resolves at the next notification, after `ms`, or when `signal` aborts. Never rejects. */
    wait: async (ms: number, signal: AbortSignal): Promise<void> => {
      if (!isNotified && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        wake = resolve;
        signal.addEventListener('abort', wake, { once: true });
        await promise;
        signal.removeEventListener('abort', wake);
        clearTimeout(timer);
        wake = undefined;
      }
      isNotified = false;
    },
  };
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
