import { Semaphore } from '@svc/concurrency';
import type { Config } from '../../config/load-config.ts';
import { retryLater } from '../request/request-error.ts';

/** What a streamed response holds: `data` a database connection, `assets` a piece of a file, `events` a subscription. */
export type StreamKind = 'data' | 'assets' | 'events';

export type StreamPermits = Readonly<Record<StreamKind, Semaphore>>;

/** `Retry-After` for a client with too many event streams. */
const EVENTS_RETRY_SECONDS = 10;

/** Limits the streams of each client. At least one connection is left for the other clients. */
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
  const perClient = (permits: number, waitMs: number, what: string, retrySeconds: number): Semaphore =>
    new Semaphore({
      permits: Number.POSITIVE_INFINITY,
      permitsPerClient: permits,
      waitMs,
      timeoutError: () =>
        retryLater('rate_limited', `More than ${permits} concurrent ${what}.`, retrySeconds),
    });
  return {
    data: perClient(permits, waitMs, 'exports and item streams', Math.ceil(waitMs / 1000)),
    assets: perClient(config.maxStreamsPerClient, waitMs, 'assets', Math.ceil(waitMs / 1000)),
    events: perClient(config.maxEventStreamsPerClient, 0, 'event streams', EVENTS_RETRY_SECONDS),
  };
}
