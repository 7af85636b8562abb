import { setTimeout as delay } from 'node:timers/promises';
import { createClient, isThroughPooler } from './client.ts';

/** @typeParam Channel names of channels, which are SQL identifiers */
export interface ListenOptions<Channel extends string> {
  readonly url: string;
  readonly channel: Channel | readonly Channel[];
  readonly onNotification: (payload: string, channel: Channel) => void;
  /** Called after every (re)connect: what was sent before it is lost, so look for yourself. */
  readonly onConnect?: () => void;
}

export type Listener = ReturnType<typeof listen>;

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 10_000;
/** A connection that is dead without a word is noticed by a query that gets no answer. */
const PROBE_INTERVAL_MS = 30_000;
const PROBE_TIMEOUT_MS = 10_000;

/**
 * Listens to channels on a separate connection, and reconnects when that breaks. Returns immediately; an unavailable database
 * is not an error here. Notifications may be lost, and behind a pooler in transaction mode there are none: callers must
 * also poll.
 */
export function listen<const Channel extends string>(options: ListenOptions<Channel>) {
  const closing = new AbortController();
  const running = run(options, closing.signal);
  const close = async (): Promise<void> => {
    closing.abort();
    await running;
  };
  return { close, [Symbol.asyncDispose]: close };
}

async function run<Channel extends string>(options: ListenOptions<Channel>, signal: AbortSignal) {
  let retryMs = FIRST_RETRY_MS;
  while (!signal.aborted) {
    try {
      await listenOnce(options, signal, () => {
        retryMs = FIRST_RETRY_MS;
      });
    } catch {
      // the next round tries again
    }
    await delay(retryMs, undefined, { signal, ref: false }).catch(() => undefined);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  }
}

async function listenOnce<Channel extends string>(
  options: ListenOptions<Channel>,
  signal: AbortSignal,
  onConnect: () => void,
): Promise<void> {
  const client = createClient(
    { url: options.url, applicationName: 'svc-listen' },
    { query_timeout: PROBE_TIMEOUT_MS },
  );
  const { promise: broken, resolve: stop } = Promise.withResolvers<unknown>();
  client.on('error', stop);
  client.on('end', () => stop(undefined));
  signal.addEventListener('abort', stop);
  let probe: NodeJS.Timeout | undefined;
  try {
    await client.connect();
    if (await isThroughPooler(client)) {
      // Another session would get them.
      await broken;
      return;
    }
    client.on('notification', ({ payload, channel }) => {
      options.onNotification(payload ?? '', channel as Channel);
    });
    for (const channel of [options.channel].flat()) await client.query(`LISTEN ${channel}`);
    onConnect();
    options.onConnect?.();
    const failed = new Promise<void>((done) => {
      probe = setInterval(() => {
        client.query('SELECT 1').catch(() => done());
      }, PROBE_INTERVAL_MS);
      probe.unref();
    });
    await Promise.race([broken, failed]);
  } finally {
    clearInterval(probe);
    signal.removeEventListener('abort', stop);
    await Promise.race([client.end().catch(() => undefined), delay(1_000, undefined, { ref: false })]);
  }
}
