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

export function text(body: string, contentType: string): RouteResponse {
  return { kind: 'text', status: 200, headers: { 'Content-Type': contentType }, body };
}

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

/**
 * What {@link JsonText} leaves in its place while the rest of a body is written: a string whose letter is an escape.
 * `JSON.stringify` itself escapes no letters, so no other value of a body can be written like this.
 */
const MARK = String.raw`"\u0041"`;
const RAW_MARK: unknown = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(MARK);

/** Texts that have left their mark in the body that is being written, in order; null while none is. */
let written: string[] | null = null;

/** JSON text, such as a stored item: it is sent as it is, with every digit. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** Called by {@link toJsonText}, the only way to write a body that holds such texts. */
  toJSON(): unknown {
    if (written === null) throw new TypeError('Cannot write a JsonText by JSON.stringify: use toJsonText.');
    written.push(this.text);
    return RAW_MARK;
  }
}

export type JsonBody =
  | JsonText
  | string
  | number
  | boolean
  | null
  | undefined
  | Date
  | readonly JsonBody[]
  | { readonly [key: string]: JsonBody };

/**
 * The JSON text of a body: undefined members are omitted, dates become ISO 8601 in UTC. `JSON.stringify` writes all but the
 * texts that a body holds, because one call takes less time and memory than a call for each value.
 */
export function toJsonText(body: JsonBody): string {
  return toJsonTexts(body).join('');
}

/** The JSON text in pieces: each text that the body holds is one of them, so that none is copied. */
export function toJsonTexts(body: JsonBody): string[] {
  if (body instanceof JsonText) return [body.text];
  const texts: string[] = [];
  written = texts;
  let marked: string;
  try {
    marked = JSON.stringify(body ?? null);
  } finally {
    written = null;
  }
  if (texts.length === 0) return [marked];
  return marked
    .split(MARK)
    .flatMap((part, index) => (index === 0 ? part : [texts[index - 1] as string, part]));
}
