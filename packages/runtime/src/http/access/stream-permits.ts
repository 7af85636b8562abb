import type { Config } from '../../config/load-config.ts';
import { type ClientSemaphores, createClientSemaphores } from '../../semaphore.ts';
import { RequestError } from '../request/request-error.ts';

/** What an answer that lasts holds: `data` a connection to the database, `events` a place among the watchers. */
export type StreamKind = 'data' | 'events';

export type StreamPermits = Readonly<Record<StreamKind, ClientSemaphores>>;

/** When a client with too many event streams is told to come again. */
const EVENTS_RETRY_SECONDS = 10;

/** Bounds the streams of each client. However many a client may have, one connection is left for the others. */
export function createStreamPermits(
  config: Pick<
    Config,
    'maxStreamsPerClient' | 'maxEventStreamsPerClient' | 'databasePoolSize' | 'importWaitMs'
  >,
): StreamPermits {
  // streams share a quarter of the pool (`createStore`)
  const shared = Math.floor(config.databasePoolSize / 4);
  const waitMs = config.importWaitMs;
  const permits = Math.max(1, Math.min(config.maxStreamsPerClient, shared - 1));
  const limit = (permits: number, waitMs: number, what: string, retrySeconds: number): ClientSemaphores =>
    createClientSemaphores({
      permits,
      waitMs,
      refuse: () =>
        new RequestError('rate_limited', `more than ${permits} ${what} at once`, {
          headers: { 'Retry-After': String(retrySeconds) },
        }),
    });
  return {
    data: limit(permits, waitMs, 'exports and item streams', Math.ceil(waitMs / 1000)),
    events: limit(config.maxEventStreamsPerClient, 0, 'event streams', EVENTS_RETRY_SECONDS),
  };
}
