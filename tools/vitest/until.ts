import { setTimeout as delay } from 'node:timers/promises';

/** Between two looks: what happens often, such as the requests of a run, is not looked at each time. */
const LOOK_MS = 10;
/** No line of a log and no request tells of the rows of another process, or of the sample of a metric. */
const QUIET_MS = 100;

let next = Promise.withResolvers<void>();

/** Says that a log has a new line, or that a request has come or gone: `until` looks again. */
export function happened(): void {
  next.resolve();
  next = Promise.withResolvers();
}

/** Waits for something to become so, as long as a busy machine may take, and fails with what it was last. */
export async function until<T>(
  read: () => Promise<T> | T,
  isSo: (value: T) => boolean,
  timeoutMs = 150_000,
): Promise<T> {
  const startedAt = performance.now();
  for (;;) {
    const change = next.promise;
    const value = await read();
    if (isSo(value)) return value;
    if (performance.now() - startedAt > timeoutMs) {
      throw new Error(`not so within ${timeoutMs} ms: ${JSON.stringify(value)}`);
    }
    await delay(LOOK_MS);
    await Promise.race([change, delay(QUIET_MS)]);
  }
}
