import { setTimeout as delay } from 'node:timers/promises';
import { type RouteResponse, stream } from '@svc/service';

interface Watched {
  readonly id: string;
  readonly finishedAt: Date | null;
}

export interface WatchOptions<T> {
  /** Reads the current states of the entries that still exist. */
  readonly read: (ids: readonly string[]) => Promise<readonly T[]>;
  /** The JSON text of a state, sent when it differs from the previous one. */
  readonly toText: (state: T) => string;
  /** Ends all streams, so that clients reconnect to another process. */
  readonly drainSignal: AbortSignal;
}

interface Topic {
  text: string;
  hasEnded: boolean;
  failure: unknown;
  readonly waiting: Set<() => void>;
  watchers: number;
}

const POLL_MS = 500;

/** States that memory holds at a time: a run with its configuration may be large. */
const MAX_READ = 50;

/** After this time without an event, send a comment so that proxies keep the connection open. */
const HEARTBEAT_MS = 15_000;

/**
 * Responses that follow a state until its end, as server-sent events (HTML standard, section 9.2): `progress` for every
 * change, and `end` with the last state; without `end` where it is deleted. The states of all streams are read together,
 * and each is serialized once.
 */
export function createWatch<T extends Watched>(
  options: WatchOptions<T>,
): (first: T, signal: AbortSignal) => RouteResponse {
  const { read, toText, drainSignal } = options;
  const topics = new Map<string, Topic>();
  let isReading = false;
  drainSignal.addEventListener('abort', () => {
    for (const topic of topics.values()) wake(topic);
  });

  /** A stream that starts after the end, or after a failure, gets a new topic. */
  function publish(id: string, topic: Topic, state: T): void {
    const text = toText(state);
    if (text === topic.text) return;
    topic.text = text;
    topic.hasEnded = state.finishedAt !== null;
    if (topic.hasEnded) topics.delete(id);
    wake(topic);
  }

  /** The streams of a topic that is deleted end. */
  function forget(id: string, topic: Topic): void {
    topics.delete(id);
    wake(topic);
  }

  async function readSome(missing: Map<string, Topic>): Promise<void> {
    try {
      for (const state of await read([...missing.keys()])) {
        const topic = missing.get(state.id);
        if (topic === undefined) continue;
        missing.delete(state.id);
        publish(state.id, topic, state);
      }
      for (const [id, topic] of missing) forget(id, topic);
    } catch (error) {
      for (const [id, topic] of missing) {
        topic.failure = error;
        forget(id, topic);
      }
    }
  }

  async function readAll(): Promise<void> {
    const all = [...topics];
    for (let at = 0; at < all.length; at += MAX_READ) {
      await readSome(new Map(all.slice(at, at + MAX_READ)));
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

  function subscribe(first: T): Topic {
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
    const topic = subscribe(first);
    const isWatched = (): boolean => topics.get(first.id) === topic;
    try {
      let sent = '';
      let id = 0;
      for (;;) {
        if (topic.text === sent) yield Buffer.from(': keep-alive\n\n');
        else {
          sent = topic.text;
          id += 1;
          yield Buffer.from(`id: ${id}\nevent: ${topic.hasEnded ? 'end' : 'progress'}\ndata: ${sent}\n\n`);
        }
        // the state may have changed while the client read this
        if (topic.text !== sent) continue;
        if (topic.hasEnded || drainSignal.aborted) return;
        if (isWatched()) await nextChange(topic, signal);
        signal.throwIfAborted();
        if (topic.failure !== undefined) throw topic.failure;
        if (topic.text === sent && (drainSignal.aborted || !isWatched())) return;
      }
    } finally {
      topic.watchers -= 1;
      if (topic.watchers === 0 && isWatched()) topics.delete(first.id);
    }
  }

  return (first, signal) =>
    stream(follow(first, signal), {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store',
      // a draining process need not wait for a connection that would stay open
      Connection: 'close',
      // keeps proxies from buffering the events
      'X-Accel-Buffering': 'no',
    });
}

function wake(topic: Topic): void {
  for (const resolve of topic.waiting) resolve();
}

function nextChange(topic: Topic, signal: AbortSignal): Promise<void> {
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
