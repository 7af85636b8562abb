import { setTimeout as delay } from 'node:timers/promises';
import { type RouteResponse, stream } from '@svc/runtime';

export interface WatchOptions<T> {
  /** the states as they are now, of those that are still there */
  readonly read: (ids: readonly string[]) => Promise<readonly T[]>;
  /** the JSON text of a state; it is sent when it differs from the one before */
  readonly toText: (state: T) => string;
  readonly hasEnded: (state: T) => boolean;
  /** ends all streams early and in order: whoever watches connects again, to a process that stays */
  readonly drainSignal: AbortSignal;
}

/** What is watched by however many streams. */
interface Topic {
  text: string;
  hasEnded: boolean;
  /** why it cannot be watched any more */
  failure: unknown;
  /** streams that wait for something to happen */
  readonly waiting: Set<() => void>;
  watchers: number;
}

/** How often the states are read. */
const POLL_MS = 500;

/** How many states are in memory at once: a run's may be large, with its configuration. */
const MAX_READ = 50;

/** After so long without an event a comment is sent, so that no proxy takes the connection for dead. */
const HEARTBEAT_MS = 15_000;

/**
 * Makes answers that follow something until its end, as server-sent events (HTML standard, section 9.2): an event
 * `progress` for every change, and `end` with the last state, after which the stream ends. However many streams there
 * are, the states of what they watch are read together, and each is written as text once.
 *
 * @returns the answer that follows from a state on, until its end or until `signal` aborts
 */
export function createWatch<T extends { readonly id: string }>(
  options: WatchOptions<T>,
): (first: T, signal: AbortSignal) => RouteResponse {
  const { read, toText, hasEnded, drainSignal } = options;
  const topics = new Map<string, Topic>();
  let isReading = false;
  drainSignal.addEventListener('abort', () => {
    for (const topic of topics.values()) wake(topic);
  });

  /** Whoever comes after the end, or after a failure, begins anew. */
  function publish(id: string, topic: Topic, state: T): void {
    const text = toText(state);
    if (text === topic.text) return;
    topic.text = text;
    topic.hasEnded = hasEnded(state);
    if (topic.hasEnded) topics.delete(id);
    wake(topic);
  }

  function fail(id: string, topic: Topic, failure: unknown): void {
    topic.failure = failure;
    topics.delete(id);
    wake(topic);
  }

  async function readSome(wanted: Map<string, Topic>): Promise<void> {
    try {
      for (const state of await read([...wanted.keys()])) {
        const topic = wanted.get(state.id);
        if (topic === undefined) continue;
        wanted.delete(state.id);
        publish(state.id, topic, state);
      }
      for (const [id, topic] of wanted) fail(id, topic, new Error('What is watched has been deleted.'));
    } catch (error) {
      for (const [id, topic] of wanted) fail(id, topic, error);
    }
  }

  async function readAll(): Promise<void> {
    const wanted = [...topics];
    for (let at = 0; at < wanted.length; at += MAX_READ) {
      await readSome(new Map(wanted.slice(at, at + MAX_READ)));
    }
  }

  async function readWhileWatched(): Promise<void> {
    if (isReading) return;
    isReading = true;
    for (;;) {
      await delay(POLL_MS, undefined, { ref: false });
      if (topics.size === 0) break;
      await readAll();
    }
    isReading = false;
  }

  function enter(first: T): Topic {
    const known = topics.get(first.id);
    const topic = known ?? { text: '', hasEnded: false, failure: undefined, waiting: new Set(), watchers: 0 };
    topic.watchers += 1;
    if (known === undefined) {
      topics.set(first.id, topic);
      publish(first.id, topic, first);
      void readWhileWatched();
    }
    return topic;
  }

  async function* follow(first: T, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const topic = enter(first);
    try {
      let sent = '';
      let id = 0;
      for (;;) {
        if (topic.text === sent) yield Buffer.from(': still there\n\n');
        else {
          sent = topic.text;
          id += 1;
          yield Buffer.from(`id: ${id}\nevent: ${topic.hasEnded ? 'end' : 'progress'}\ndata: ${sent}\n\n`);
        }
        // more may have happened while the reader took this
        if (topic.text !== sent) continue;
        if (topic.hasEnded || drainSignal.aborted) return;
        await somethingHappens(topic, signal);
        signal.throwIfAborted();
        if (topic.failure !== undefined) throw topic.failure;
        if (drainSignal.aborted && topic.text === sent) return;
      }
    } finally {
      topic.watchers -= 1;
      if (topic.watchers === 0 && topics.get(first.id) === topic) topics.delete(first.id);
    }
  }

  return (first, signal) =>
    stream(follow(first, signal), {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // nothing more comes on it, and a process that stops need not wait for it
      Connection: 'close',
      // proxies that collect answers would hold the events back
      'X-Accel-Buffering': 'no',
    });
}

function wake(topic: Topic): void {
  for (const resolve of topic.waiting) resolve();
}

/** Resolves when the topic changes, after the time of a heartbeat, and when `signal` aborts. */
function somethingHappens(topic: Topic, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      topic.waiting.delete(end);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, HEARTBEAT_MS);
    topic.waiting.add(end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
