import type { Request, RequestHandler } from 'express';
import { RequestError } from './request-error.ts';

/** Clients that are remembered; beyond it, the one that was quiet longest is forgotten. */
const MAX_CLIENTS = 10_000;

/** What a client may still do. */
export interface Allowance {
  readonly allowed: boolean;
  /** requests that are left now */
  readonly remaining: number;
  /** until there is one again, or, while there are some, until all are there again */
  readonly resetSeconds: number;
}

/**
 * A token bucket for each client: `perMinute` requests at once, refilled evenly.
 *
 * @param now a clock that is never set back, in milliseconds
 */
export function createRateLimit(
  perMinute: number,
  now: () => number = () => performance.now(),
  maxClients: number = MAX_CLIENTS,
): (client: string) => Allowance {
  // A map keeps the order in which its keys came: who asks goes to the end of it.
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / 60_000;
  return (client) => {
    const at = now();
    const known = buckets.get(client);
    const tokens =
      known === undefined ? perMinute : Math.min(perMinute, known.tokens + (at - known.at) * perMs);
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    buckets.delete(client);
    buckets.set(client, { tokens: left, at });
    if (buckets.size > maxClients) buckets.delete(buckets.keys().next().value ?? '');
    const missing = allowed ? perMinute - left : 1 - left;
    return { allowed, remaining: Math.floor(left), resetSeconds: Math.ceil(missing / perMs / 1000) };
  };
}

/**
 * Refuses what is beyond the rate of its client: of a valid key, else of an address, so that trying keys is no way
 * around it. Answers carry `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 *
 * @param keyOf names the valid key of a request, where there is one
 * @throws RequestError `rate_limited` with `Retry-After`
 */
export function limitRate(
  perMinute: number,
  keyOf: (request: Request) => string | undefined,
): RequestHandler {
  const take = createRateLimit(perMinute);
  return (request, response, next) => {
    const { allowed, remaining, resetSeconds } = take(
      keyOf(request) ?? networkOf(request.socket.remoteAddress ?? ''),
    );
    response.setHeader('RateLimit-Policy', `"default";q=${perMinute};w=60`);
    response.setHeader('RateLimit', `"default";r=${remaining};t=${resetSeconds}`);
    if (!allowed) {
      throw new RequestError('rate_limited', `more than ${perMinute} requests a minute`, {
        headers: { 'Retry-After': String(resetSeconds) },
      });
    }
    next();
  };
}

/** The address; of IPv6 the network of 64 bits, in which one client has every address (RFC 6177). */
export function networkOf(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head, tail] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  const before = head ?? [];
  const after = tail ?? [];
  return [...before, ...Array(8 - before.length - after.length).fill('0'), ...after].slice(0, 4).join(':');
}
