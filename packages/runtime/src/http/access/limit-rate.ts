import type { Request, RequestHandler } from 'express';
import { RequestError } from '../request/request-error.ts';
import { createTokenBuckets } from './token-buckets.ts';

/**
 * Refuses what is beyond the rate of its client: of a valid key, else of an address, so that trying keys is no way
 * around it. Answers carry `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers).
 *
 * @param clientOf names the client of a request
 * @throws RequestError `rate_limited` with `Retry-After`
 */
export function limitRate(perMinute: number, clientOf: (request: Request) => string): RequestHandler {
  const { take } = createTokenBuckets(perMinute);
  return (request, response, next) => {
    const { allowed, remaining, resetSeconds } = take(clientOf(request));
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
