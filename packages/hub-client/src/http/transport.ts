import { type ChunkSource, chunksOf } from '@svc/jsonl-v23/streams';

/** Headers of a response by lower-case name. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** One HTTP response whose body is still to be read. */
export interface TransportResponse {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** Where the response came from; another address if the transport follows redirects itself. */
  readonly url: URL;
  /** Length of `body`, if the response declares it. */
  readonly bodyLength: number | null;
  /** Encoding that `body` still has. */
  readonly contentEncoding: string | null;
  /** The bytes as they come; leaving the iteration ends the transfer. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends one GET request. Redirects are not followed, except by browsers, which follow them themselves. */
export type Transport = (
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<TransportResponse>;

export interface OpenTransport {
  readonly send: Transport;
  close(): Promise<void>;
}

/** The members that the client uses of a response of `fetch`, of the runtime or of a library. */
export interface FetchResponse {
  readonly status: number;
  readonly type: string;
  readonly url: string;
  readonly headers: ResponseHeaders;
  readonly body: ChunkSource<Uint8Array> | null;
}

/** The part of the global `fetch` that the client uses. */
export type FetchFunction = (
  url: URL,
  init: {
    method: string;
    headers: Record<string, string>;
    signal: AbortSignal;
    redirect: 'manual' | 'follow';
  },
) => Promise<FetchResponse>;

/**
 * A transport over `fetch`. Browsers hide the target of a redirect, so there the runtime follows it, and drops the
 * authorization header at another origin (Fetch standard, HTTP-redirect fetch, step 13).
 */
export function fetchTransport(fetch: FetchFunction): Transport {
  let redirect: 'manual' | 'follow' = 'manual';
  return async (url, headers, signal) => {
    let response = await fetch(url, { method: 'GET', headers, signal, redirect });
    if (response.type === 'opaqueredirect') {
      redirect = 'follow';
      response = await fetch(url, { method: 'GET', headers, signal, redirect });
    }
    return {
      status: response.status,
      headers: response.headers,
      url: response.url === '' ? url : new URL(response.url),
      // fetch has decoded the body; the header gives the length before that.
      bodyLength: response.headers.get('content-encoding') === null ? contentLength(response.headers) : null,
      contentEncoding: null,
      body: chunksOf(response.body ?? NO_BODY),
    };
  };
}

/** `Content-Length`; null if it is absent or invalid. */
export function contentLength(headers: ResponseHeaders): number | null {
  const value = headers.get('content-length');
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

const NO_BODY: AsyncIterable<never> = (async function* () {})();
