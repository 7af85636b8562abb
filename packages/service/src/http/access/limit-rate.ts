import type { Request, RequestHandler } from 'express';
import { retryLater } from '../request/request-error.ts';
import { createTokenBuckets } from './token-buckets.ts';

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
