import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, stream } from './answer.ts';

interface WatchOptions<T> {
  /** the state as it is now */
  readonly read: () => Promise<T>;
  /** the JSON text of a state; it is sent when it differs from the one before */
  readonly toText: (state: T) => string;
  readonly hasEnded: (state: T) => boolean;
  readonly signal: AbortSignal;
  /** ends the stream early and in order: whoever watches connects again, to a process that stays */
  readonly drainSignal: AbortSignal;
  readonly pollMs: number;
}

/** After so long without an event a comment is sent, so that no proxy takes the connection for dead. */
const HEARTBEAT_MS = 15_000;

/**
 * The states of something that ends, as server-sent events (HTML standard, section 9.2): an event `progress` for
 * every change, and `end` with the last state, after which the stream ends.
 */
async function* watchUntilEnd<T>(options: WatchOptions<T>): AsyncGenerator<Uint8Array> {
  const { read, toText, hasEnded, signal, drainSignal, pollMs } = options;
  const either = AbortSignal.any([signal, drainSignal]);
  let last = '';
  let sentAt = performance.now();
  for (let id = 1; ; ) {
    const state = await read();
    const text = toText(state);
    const ended = hasEnded(state);
    if (ended || text !== last) {
      yield Buffer.from(`id: ${id}\nevent: ${ended ? 'end' : 'progress'}\ndata: ${text}\n\n`);
      id += 1;
      last = text;
      sentAt = performance.now();
    } else if (performance.now() - sentAt > HEARTBEAT_MS) {
      yield Buffer.from(': still there\n\n');
      sentAt = performance.now();
    }
    if (ended || drainSignal.aborted) return;
    await delay(pollMs, undefined, { signal: either }).catch(() => signal.throwIfAborted());
  }
}

/** How often the state is looked at. */
const POLL_MS = 500;

/** The answer that such a stream is the body of. */
export function eventStream<T>(options: Omit<WatchOptions<T>, 'pollMs'>): Answer {
  return stream(watchUntilEnd({ ...options, pollMs: POLL_MS }), {
    'Content-Type': 'text/event-stream',
    'Cache-Control': 'no-store',
    // nothing more comes on it, and a process that stops need not wait for it
    Connection: 'close',
    // proxies that collect answers would hold the events back
    'X-Accel-Buffering': 'no',
  });
}
