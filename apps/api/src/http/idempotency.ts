import { createHash } from 'node:crypto';
import {
  JsonText,
  json,
  RequestError,
  type RouteRequest,
  type RouteResponse,
  type Schema,
} from '@svc/runtime';
import type { IdempotencyClaim, IdempotencyStore, StoredResponse } from '@svc/store';

/** The header of the creating calls, for the OpenAPI document. */
export const IDEMPOTENCY_KEY: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'a repeat with the same key and the same request within 24 hours gets the first answer again, also when the two run at once',
};

/**
 * Answers a creating call once for each `Idempotency-Key`: a repeat gets the first answer, and waits for it where the
 * first is still under way. A call that fails gives its key back. Without the header the work is just done.
 *
 * @param describe SHA-256 of the request; asked for only where there is a key
 * @param work gets the claim that has to be completed in the transaction of what it creates, with the answer that it
 * returns
 * @throws RequestError `invalid_request` for a header that is no key; StoreError `idempotency_key_reused` where the key
 * came with another request; what `work` throws
 */
export async function withIdempotency(
  request: Pick<RouteRequest, 'header' | 'signal'>,
  store: Pick<IdempotencyStore, 'begin'>,
  describe: () => Promise<Uint8Array> | Uint8Array,
  work: (claim: IdempotencyClaim | undefined) => Promise<StoredResponse>,
): Promise<RouteResponse> {
  const key = request.header('idempotency-key');
  if (key === undefined) return toResponse(await work(undefined));
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    const message = 'Idempotency-Key must be 1 to 255 visible ASCII characters';
    throw new RequestError('invalid_request', message, { errors: [{ message, path: 'Idempotency-Key' }] });
  }
  // Keys of different callers do not meet.
  const caller = request.header('authorization') ?? '';
  const outcome = await store.begin({
    key: requestDigest(caller, key).toString('hex'),
    requestHash: await describe(),
    signal: request.signal,
  });
  if (outcome.replay !== null) return toResponse(outcome.replay);
  try {
    return toResponse(await work(outcome.claim));
  } finally {
    // Where the database is away, the claim lapses by itself.
    await outcome.release().catch(() => undefined);
  }
}

/** SHA-256 of several texts, which cannot run into one another. */
export function requestDigest(...parts: readonly (string | boolean | null)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

function toResponse({ body, status, headers }: StoredResponse): RouteResponse {
  return json(new JsonText(body), status, headers);
}
