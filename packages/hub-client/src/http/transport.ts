/** Headers of an answer by lower-case name. */
export interface ResponseHeaders {
  get(name: string): string | null;
}

/** One HTTP answer whose body is still to be read. */
export interface TransportResponse {
  status: number;
  headers: ResponseHeaders;
  /** Where the answer came from, when the transport followed redirects by itself. */
  url: URL;
  /** Bytes that `body` will bring, where the answer says so. */
  bodyLength: number | null;
  /** Encoding that is still on the body. */
  contentEncoding: string | null;
  /** The bytes as they come; leaving the iteration ends the transfer. */
  body: AsyncIterable<Uint8Array>;
}

/** Sends one request, without following redirects where the runtime leaves them to the caller. */
export type Transport = (
  method: 'GET' | 'HEAD',
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
) => Promise<TransportResponse>;

/** A transport and the connections that it holds. */
export interface OpenTransport {
  send: Transport;
  close(): Promise<void>;
}

/** The part of the global `fetch` that is used, so that any function of its shape fits. */
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
 * A transport over `fetch`. Browsers hide where a redirect leads, so there the runtime follows it, and drops
 * the authorization header at another origin (Fetch standard, HTTP-redirect fetch, step 13).
 */
export function fetchTransport(fetch: FetchFunction): Transport {
  let redirect: 'manual' | 'follow' = 'manual';
  return async (method, url, headers, signal) => {
    let response = await fetch(url, { method, headers, signal, redirect });
    if (response.type === 'opaqueredirect') {
      redirect = 'follow';
      response = await fetch(url, { method, headers, signal, redirect });
    }
    return {
      status: response.status,
      headers: response.headers,
      url: response.url === '' ? url : new URL(response.url),
      // fetch has decoded the body, and what the header tells is the length before that.
      bodyLength: response.headers.get('content-encoding') === null ? contentLength(response.headers) : null,
      contentEncoding: null,
      body: readableBytes(response.body),
    };
  };
}

/** `Content-Length`, or null where it is absent or nonsense. */
export function contentLength(headers: ResponseHeaders): number | null {
  const value = headers.get('content-length');
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : null;
}

/** The bytes of a web stream; not every browser lets `for await` walk one. */
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
