import type { JsonBody } from './json-text.ts';

type Headers = Readonly<Record<string, string>>;

/** What a route gives back: a decision as a value; `send-answer.ts` carries it out. */
export type Answer =
  | { readonly kind: 'json'; readonly status: number; readonly headers: Headers; readonly body: JsonBody }
  | { readonly kind: 'text'; readonly status: number; readonly headers: Headers; readonly body: string }
  | { readonly kind: 'empty'; readonly status: number; readonly headers: Headers }
  | {
      readonly kind: 'stream';
      readonly status: number;
      readonly headers: Headers;
      readonly body: AsyncIterable<Uint8Array>;
      /** frees what the body reads from, whether it was read or not */
      readonly close: () => PromiseLike<void>;
    };

/** An answer whose bytes are all there. */
export type BufferedResponse = Exclude<Answer, { kind: 'stream' }>;

/** A JSON answer. */
export function json(body: JsonBody, status = 200, headers: Headers = {}): BufferedResponse {
  return { kind: 'json', status, headers, body };
}

/** A text answer with its content type. */
export function text(body: string, contentType: string): BufferedResponse {
  return { kind: 'text', status: 200, headers: { 'Content-Type': contentType }, body };
}

/** An answer without a body. */
export function empty(status: number, headers: Headers = {}): BufferedResponse {
  return { kind: 'empty', status, headers };
}

/** An answer that is written while it is read; its source is closed when the client goes away. */
export function stream(
  body: AsyncIterable<Uint8Array>,
  headers: Headers,
  close: () => PromiseLike<void> = async () => {},
): Answer {
  return { kind: 'stream', status: 200, headers, body, close };
}
