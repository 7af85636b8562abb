import type { IncomingMessage } from 'node:http';
import type { Request, RequestHandler } from 'express';
import { Semaphore } from '../../concurrency/index.ts';
import type { Config } from '../../config/load-config.ts';
import { retryLater } from '../request/request-error.ts';
import { requestState } from '../request/track-request.ts';
import { addressOf } from './hosts.ts';

/** Clients that are kept; the least recently active one is dropped first. */
const MAX_CLIENTS = 10_000;

/** Makes a token bucket for each client: bursts of `perMinute` requests, refilled evenly. @param now a monotonic clock, in ms */
export function createTokenBuckets(
  perMinute: number,
  now: () => number = () => performance.now(),
  maxClients: number = MAX_CLIENTS,
) {
  // A map keeps insertion order: an active client moves to the end.
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / 60_000;
  const tokensOf = (client: string, at: number): number => {
    const known = buckets.get(client);
    return known === undefined ? perMinute : Math.min(perMinute, known.tokens + (at - known.at) * perMs);
  };
  const allowance = (allowed: boolean, left: number) => {
    // Until one request is available, or, while there are some, until all are.
    const missing = allowed ? perMinute - left : 1 - left;
    return { allowed, remaining: Math.floor(left), resetSeconds: Math.ceil(missing / perMs / 1000) };
  };
  return {
    take: (client: string) => {
      const at = now();
      const tokens = tokensOf(client, at);
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      buckets.delete(client);
      buckets.set(client, { tokens: left, at });
      if (buckets.size > maxClients) buckets.delete(buckets.keys().next().value ?? '');
      return allowance(allowed, left);
    },
    look: (client: string) => {
      const tokens = tokensOf(client, now());
      return allowance(tokens >= 1, tokens);
    },
  };
}

/** The address; for IPv6 its network of 64 bits, because one client may own all of them (RFC 6177). */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head, tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const before = head ?? [];
  const after = tail ?? [];
  const missing = Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array(missing).fill('0'), ...after].slice(0, 4).join(':');
}

/**
 * Limits the requests of each client. Adds `RateLimit` and `RateLimit-Policy` to responses
 * (draft-ietf-httpapi-ratelimit-headers).
 *
 * @param clientOf names the client of a request: its valid key, else its address, so that wrong keys do not evade the
 * limit
 * @throws RequestError `rate_limited` with `Retry-After`
 */
export function limitRate(perMinute: number, clientOf: (request: Request) => string): RequestHandler {
  const { take } = createTokenBuckets(perMinute);
  return (request, response, next) => {
    const { allowed, remaining, resetSeconds } = take(clientOf(request));
    response.setHeader('RateLimit-Policy', `"default";q=${perMinute};w=60`);
    response.setHeader('RateLimit', `"default";r=${remaining};t=${resetSeconds}`);
    if (!allowed) {
      throw retryLater('rate_limited', `More than ${perMinute} requests per minute.`, resetSeconds);
    }
    next();
  };
}

/** Pairs of an address and a key that are kept; the least recently used one is dropped first. */
const MAX_ACCEPTED = 10_000;

/**
 * Counts failed attempts of each address: bursts of `perMinute`, refilled evenly. An address without attempts left is
 * rejected with a valid key too, so that guessing on reveals nothing. A key that was accepted from that address before
 * is still accepted, so that an attacker behind the same proxy cannot lock other clients out.
 *
 * @returns counts an attempt with a key, undefined for a wrong one: the seconds to wait before the next attempt, whether the
 * key was valid or not; 0 when the attempt is accepted
 */
export function slowDownFailures(
  perMinute: number,
  now?: () => number,
  maxAccepted: number = MAX_ACCEPTED,
): (address: string, key: string | undefined) => number {
  const failures = createTokenBuckets(perMinute, now);
  const accepted = new Set<string>();
  return (address, key) => {
    if (key === undefined) {
      const { allowed, resetSeconds } = failures.take(address);
      return allowed ? 0 : resetSeconds;
    }
    const pair = `${key} ${address}`;
    if (!accepted.delete(pair)) {
      const { allowed, resetSeconds } = failures.look(address);
      if (!allowed) return resetSeconds;
    }
    accepted.add(pair);
    if (accepted.size > maxAccepted) accepted.delete(accepted.values().next().value ?? '');
    return 0;
  };
}

/** Names the client of a request for limits: its valid key, else its network. */
export function clientOf(request: IncomingMessage, trustProxy: boolean): string {
  const { key } = requestState(request).caller;
  return key === undefined ? networkOf(addressOf(request, trustProxy)) : `key ${key}`;
}

/** What a streamed response holds: `data` a database connection, `assets` a piece of a file, `events` a subscription. */
export type StreamKind = 'data' | 'assets' | 'events';

export type StreamPermits = ReturnType<typeof createStreamPermits>;

/** `Retry-After` for a client with too many event streams. */
const EVENTS_RETRY_SECONDS = 10;

/** Limits the streams of each client. At least one connection is left for the other clients. */
export function createStreamPermits(config: Config): Readonly<Record<StreamKind, Semaphore>> {
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
