import { createHash } from 'node:crypto';
import { currentContext } from '@svc/observability';
import {
  invalidRequest,
  JsonText,
  json,
  type RouteRequest,
  type RouteResponse,
  type Schema,
} from '@svc/service';
import type { IdempotencyClaim, IdempotencyStore, StoredResponse } from '@svc/service/store';

export const IDEMPOTENCY_KEY: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description:
    'a repeat of the same request with the same key within 24 hours gets the first response, even while the first one is still running',
};

/**
 * Runs a creating request once per `Idempotency-Key`: a repeat gets the first response, and waits for it while the first
 * request is still running. A request that fails releases its key. `describe` computes the SHA-256 of the request; `work`
 * must complete the claim in the transaction that creates something, with the response that it returns.
 */
export async function withIdempotency(
  request: Pick<RouteRequest, 'header' | 'caller' | 'signal'>,
  store: Pick<IdempotencyStore, 'begin'>,
  describe: () => Promise<Uint8Array> | Uint8Array,
  work: (claim: IdempotencyClaim | undefined) => Promise<StoredResponse>,
): Promise<RouteResponse> {
  const key = request.header('idempotency-key');
  if (key === undefined) return toResponse(await work(undefined));
  if (!/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw invalidRequest('Idempotency-Key', 'Idempotency-Key must be 1 to 255 visible ASCII characters.');
  }
  const outcome = await store.begin({
    // Each caller has its own keys.
    key: requestDigest(request.caller.name, key).toString('hex'),
    requestHash: await describe(),
    signal: request.signal,
  });
  if (outcome.replay !== null) return toResponse(outcome.replay);
  try {
    return toResponse(await work(outcome.claim));
  } finally {
    // If the database is unavailable, the claim expires.
    await outcome.release().catch(() => undefined);
  }
}

/** SHA-256 of several texts; their boundaries count. */
export function requestDigest(...parts: readonly (string | boolean | null)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

function toResponse({ body, status, headers }: StoredResponse): RouteResponse {
  return json(new JsonText(body), status, headers);
}

export const PREFER: Schema = {
  type: 'string',
  description: '`respond-async`: run as a job; the response is 202 with the location of the job',
};

/** Response header when the preference was applied (RFC 7240 section 3). */
export const ASYNC_APPLIED: Readonly<Record<string, string>> = { 'Preference-Applied': 'respond-async' };

/** Whether a `Prefer` header (RFC 7240) has the preference `respond-async`, possibly among others and with parameters. */
export function prefersAsync(header: string | undefined): boolean {
  // An unterminated quoted string extends to the end of the header, so that no part is searched twice.
  const withoutQuotes = (header ?? '').replace(/"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)/g, '');
  return withoutQuotes.split(',').some((preference) => {
    const name = preference.split(/[;=]/, 1)[0] ?? '';
    return name.trim().toLowerCase() === 'respond-async';
  });
}

/** What asked for a run or a job: the running request, and its caller. Stored with it, so that workers log both. */
export function askedBy(): { readonly requestId: string | null; readonly createdBy: string | null } {
  const { request_id, actor } = currentContext();
  return { requestId: request_id ?? null, createdBy: actor ?? null };
}
