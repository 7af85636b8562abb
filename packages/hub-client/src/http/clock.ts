/** Time and chance, so that tests need not wait. */
export interface Clock {
  /** Milliseconds for waits and deadlines: from an unknown beginning, and never set. */
  nowMs(): number;
  /** The time of day, since 1970. It is only for HTTP dates, because it may be set at any moment. */
  dateMs(): number;
  /** Settles after the time, or rejects with the signal's reason. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
  /** 0 to 1. */
  random(): number;
}

/** The clock of the machine. */
export const SYSTEM_CLOCK: Clock = {
  nowMs: () => performance.now(),
  dateMs: () => Date.now(),
  random: () => Math.random(),
  sleep: (delayMs, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = (): void => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, delayMs);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
};
