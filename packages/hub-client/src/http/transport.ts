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

/** A transport and its connections. */
export interface OpenTransport {
  readonly send: Transport;
  close(): Promise<void>;
}

/** The part of the global `fetch` that is used. */
export type FetchFunction = (
  url: URL,
  init: {
    method: string;
    headers: Record<string, string>;
    signal: AbortSignal;
    redirect: 'manual' | 'follow';
  },
) => Promise<Response>;

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
      body: readableBytes(response.body),
    };
  };
}

/** `Content-Length`; null if it is absent or invalid. */
export function contentLength(headers: ResponseHeaders): number | null {
  const value = headers.get('content-length');
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** The bytes of a web stream; `for await` does not work on it in every browser. */
async function* readableBytes(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  let finished = false;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    finished = true;
  } finally {
    if (!finished) await reader.cancel().catch(() => undefined);
    reader.releaseLock();
  }
}
