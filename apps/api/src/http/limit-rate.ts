import { createHash } from 'node:crypto';
import type { RequestHandler } from 'express';
import { RequestError } from './request-error.ts';

/** Buckets of clients that were quiet long enough to be full again are forgotten once there are this many. */
const MAX_BUCKETS = 10_000;

/**
 * A token bucket for each key, or each address where no key is sent: `perMinute` requests at once, refilled
 * evenly. Answers carry `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 */
export function limitRate(perMinute: number, now: () => number = Date.now): RequestHandler {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const perMs = perMinute / 60_000;
  return (request, response, next) => {
    const authorization = request.get('authorization');
    const name =
      authorization === undefined
        ? (request.socket.remoteAddress ?? '')
        : createHash('sha256').update(authorization).digest('base64');
    const at = now();
    if (buckets.size >= MAX_BUCKETS) {
      for (const [key, bucket] of buckets) if ((at - bucket.at) * perMs >= perMinute) buckets.delete(key);
    }
    const bucket = buckets.get(name) ?? { tokens: perMinute, at };
    bucket.tokens = Math.min(perMinute, bucket.tokens + Math.max(0, at - bucket.at) * perMs);
    bucket.at = at;
    buckets.set(name, bucket);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    const resetSeconds = Math.ceil((allowed ? perMinute - bucket.tokens : 1 - bucket.tokens) / perMs / 1000);
    response.setHeader('RateLimit-Policy', `"default";q=${perMinute};w=60`);
    response.setHeader('RateLimit', `"default";r=${Math.floor(bucket.tokens)};t=${resetSeconds}`);
    if (!allowed) {
      throw new RequestError('rate_limited', `more than ${perMinute} requests a minute`, {
        headers: { 'Retry-After': String(resetSeconds) },
      });
    }
    next();
  };
}
