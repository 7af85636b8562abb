import { joinBytes } from '@svc/jsonl-v23/internal';
import { HubError } from '../errors.ts';
import { type Exchange, type ExchangeDeps, sendRequest } from './exchange.ts';
import type { HubRequest, HubResponse, RequestContext } from './request.ts';
import type { ResponseHeaders } from './transport.ts';

/** The chunks of a body. @throws HubError `hub_bad_response` if it has more than `maxBytes` */
export async function* limitBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new HubError('hub_bad_response', `The response of the hub is longer than ${maxBytes} bytes.`);
    }
    yield chunk;
  }
}

/** Reads a whole body into memory. @throws HubError `hub_bad_response` if it has more than `maxBytes` */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of limitBytes(chunks, maxBytes)) parts.push(chunk);
  return joinBytes(parts);
}

const MAX_REDIRECTS = 8;

/**
 * Sends a request and follows its redirects. The token goes to the endpoint's own origin only: once a redirect has left
 * it, the token is not sent again, even if the chain comes back.
 *
 * @throws HubError `hub_bad_response` for too many or insecure redirects; RetryableError; the signal's reason
 */
export async function followRedirects(
  deps: ExchangeDeps,
  request: HubRequest,
  context: RequestContext,
): Promise<HubResponse> {
  const { origin } = deps.endpoint;
  const hops: ResponseHeaders[] = [];
  let url = request.url;
  let onHub = url.origin === origin;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const exchange = await sendRequest(deps, request, url, onHub, context);
    const { redirect, response } = exchange;
    // If the runtime follows redirects itself, only the address tells where the response came from.
    if (redirect === null) return toResponse(exchange, hops, onHub && response.url.origin === origin);
    if (onHub) hops.push(response.headers);
    await exchange.discard();
    url = redirectTarget(redirect, url);
    onHub = onHub && url.origin === origin;
  }
  throw new HubError('hub_bad_response', `The hub redirects more than ${MAX_REDIRECTS} times.`);
}

function toResponse(exchange: Exchange, hops: readonly ResponseHeaders[], fromHub: boolean): HubResponse {
  const { status, headers, url } = exchange.response;
  return {
    status,
    headers,
    url,
    hops,
    fromHub,
    chunks: () => exchange.chunks(),
    bytes: (maxBytes) => collectBytes(exchange.chunks(), maxBytes),
    discard: () => exchange.discard(),
  };
}

function redirectTarget(location: string, from: URL): URL {
  if (!URL.canParse(location, from.href)) {
    throw new HubError('hub_bad_response', `Cannot follow the redirect of ${from.host}: invalid address.`);
  }
  const target = new URL(location, from);
  const isSecure = target.protocol === 'https:';
  if (!isSecure && (target.protocol !== 'http:' || from.protocol === 'https:')) {
    throw new HubError('hub_bad_response', `Cannot follow the redirect of ${from.host}: insecure address.`);
  }
  return target;
}
