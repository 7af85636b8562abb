import type { JsonBody } from './json-text.ts';

type Headers = Readonly<Record<string, string>>;

/** A response whose bytes are in memory. */
type BufferedResponse =
  | { readonly kind: 'json'; readonly status: number; readonly headers: Headers; readonly body: JsonBody }
  | { readonly kind: 'text'; readonly status: number; readonly headers: Headers; readonly body: string }
  | { readonly kind: 'empty'; readonly status: number; readonly headers: Headers };

/** What a route returns; `send-response.ts` sends it. */
export type RouteResponse =
  | BufferedResponse
  | {
      readonly kind: 'stream';
      readonly status: number;
      readonly headers: Headers;
      readonly body: AsyncIterable<Uint8Array>;
      /** Frees what the body reads from, whether it was read or not. */
      readonly close: () => PromiseLike<void>;
    };

/** A JSON response; it ends with a line feed. */
export function json(body: JsonBody, status = 200, headers: Headers = {}): RouteResponse {
  return { kind: 'json', status, headers, body };
}

/** A text response with its content type. */
export function text(body: string, contentType: string): RouteResponse {
  return { kind: 'text', status: 200, headers: { 'Content-Type': contentType }, body };
}

/** A response without a body. */
export function empty(status: number, headers: Headers = {}): RouteResponse {
  return { kind: 'empty', status, headers };
}

/** A streamed response. Its source is closed when the client disconnects. */
export function stream(
  body: AsyncIterable<Uint8Array>,
  headers: Headers,
  close: () => PromiseLike<void> = async () => {},
): RouteResponse {
  return { kind: 'stream', status: 200, headers, body, close };
}
