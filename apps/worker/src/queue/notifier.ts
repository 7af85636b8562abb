/** Wakes one sleeper. A ring that comes while nobody sleeps is kept for the next one. */
export interface Notifier {
  notify(): void;
  /** Resolves at the next ring, after `ms`, or when `signal` aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export function createNotifier(): Notifier {
  let rung = false;
  let wake: (() => void) | undefined;
  return {
    notify: () => {
      rung = true;
      wake?.();
    },
    wait: async (ms, signal) => {
      if (!rung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, ms);
        wake = resolve;
        signal.addEventListener('abort', wake, { once: true });
        await promise;
        signal.removeEventListener('abort', wake);
        clearTimeout(timer);
        wake = undefined;
      }
      rung = false;
    },
  };
}
