import { on } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { JsonlError } from '@svc/jsonl-v23';
import { type JsonObject, type JsonValue, parseJson, ValueCounter } from '@svc/jsonl-v23/json';
import type { Request } from 'express';
import type { Config } from '../../config/load-config.ts';
import type { ParseBody } from '../route.ts';
import { RequestError } from './request-error.ts';

interface BodyLimits extends Pick<Config, 'maxJsonBodyBytes' | 'maxJsonDepth' | 'jsonRequestTimeoutMs'> {
  /** JSON values; 25,000 by default. */
  readonly maxValues?: number | undefined;
}

/**
 * JSON values that a body may hold. Parsing costs time by value, not by byte: 1 MB of small objects keeps the main
 * thread busy for a tenth of a second.
 */
const MAX_BODY_VALUES = 25_000;

const NOT_UTF8 = 'The body must be valid UTF-8.';

/**
 * Reads a whole JSON body (RFC 8259, UTF-8), strictly: duplicate keys and nesting beyond the limit are errors, numbers
 * keep every digit.
 *
 * @throws RequestError `unsupported_media_type`, `invalid_request` (no body), `body_too_large`, `request_timeout`,
 * `invalid_json`
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
  signal: AbortSignal,
  parse: ParseBody = parseNow,
): Promise<JsonValue> {
  checkMediaType(request, ['application/json', '+json']);
  const bytes = await readBytes(request, limits, signal);
  try {
    return await parse(bytes, limits.maxJsonDepth, signal);
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    if (error.code === 'invalid_utf8') throw new RequestError('invalid_json', NOT_UTF8, { cause: error });
    if (error.code === 'line_too_long') {
      throw new RequestError('body_too_large', `${error.message}.`, { cause: error });
    }
    const { line, column, path } = error.location;
    throw new RequestError('invalid_json', `Invalid JSON body: ${error.message.replace(/\.?$/, '.')}`, {
      cause: error,
      errors: [
        {
          message: error.message,
          ...(path === undefined ? {} : { path }),
          ...(line === undefined ? {} : { line }),
          ...(column === undefined ? {} : { column }),
        },
      ],
    });
  }
}

async function parseNow(bytes: Uint8Array<ArrayBuffer>, maxDepth: number): Promise<JsonValue> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RequestError('invalid_json', NOT_UTF8, { cause: error });
  }
  return parseJson(text, { maxDepth });
}

async function readBytes(request: Request, limits: BodyLimits, signal: AbortSignal) {
  const { maxJsonBodyBytes, jsonRequestTimeoutMs, maxValues = MAX_BODY_VALUES } = limits;
  const tooLarge = (limit: string): RequestError =>
    new RequestError('body_too_large', `The body must have at most ${limit}.`);
  if (Number(request.get('content-length') ?? 0) > maxJsonBodyBytes)
    throw tooLarge(`${maxJsonBodyBytes} bytes`);

  const late = new AbortController();
  const timer = setTimeout(() => {
    const message = `The body did not arrive within ${jsonRequestTimeoutMs} ms.`;
    late.abort(new RequestError('request_timeout', message));
  }, jsonRequestTimeoutMs);
  const stop = AbortSignal.any([signal, late.signal]);
  const chunks: Buffer[] = [];
  const counter = new ValueCounter();
  try {
    for await (const chunk of bodyChunks(request, stop)) {
      if (counter.bytes + chunk.byteLength > maxJsonBodyBytes) throw tooLarge(`${maxJsonBodyBytes} bytes`);
      counter.add(chunk);
      if (counter.values > maxValues) throw tooLarge(`${maxValues} JSON values`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks);
}

const FORM = 'application/x-www-form-urlencoded';

export const isForm = (request: Request): boolean => request.is(FORM) !== false;

/** Reads a whole form as an object: a text for each field, or an array for a repeated one. */
export async function readFormBody(
  request: Request,
  limits: BodyLimits,
  signal: AbortSignal,
): Promise<JsonObject> {
  const fields = new URLSearchParams((await readBytes(request, limits, signal)).toString());
  const values = Map.groupBy(fields, ([name]) => name);
  const members = [...values].map(([name, entries]) => {
    const texts = entries.map(([, value]) => value);
    return [name, texts.length === 1 ? (texts[0] ?? '') : texts];
  });
  return Object.fromEntries(members) as JsonObject;
}

/**
 * Reads a body as fast as it is taken: while no chunk is taken, the client waits. The request stays open when the loop
 * ends early, so that it can be answered.
 */
export async function* bodyChunks(request: Request, signal: AbortSignal): AsyncGenerator<Buffer> {
  const events = on(request, 'data', { signal, close: ['end'], highWaterMark: 1, lowWaterMark: 1 });
  request.resume();
  try {
    for await (const [chunk] of events as AsyncIterable<[Buffer]>) yield chunk;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

/** Whether the request has a body (RFC 9112 section 6.3) that has not ended. */
export function awaitsBody({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Checks that a request has a body of a media type, and that it is not compressed.
 *
 * @param types as `type-is` takes them; the error names the whole ones
 * @throws RequestError `unsupported_media_type`; `invalid_request` for a request without a body
 */
export function checkMediaType(request: Request, types: readonly [string, ...string[]]): void {
  const type = request.get('content-type');
  const matched = request.is([...types]);
  if (matched === null && type !== undefined) {
    throw new RequestError('invalid_request', 'The request must have a body.');
  }
  if (!matched) {
    const got = JSON.stringify(type ?? 'nothing');
    const named = types.filter((name) => name.includes('/'));
    const taken = [named.slice(0, -1).join(', '), named.at(-1)].filter(Boolean).join(' or ');
    throw new RequestError('unsupported_media_type', `The body must be ${taken}, got ${got}.`);
  }
  if (!['identity', undefined].includes(request.get('content-encoding')?.toLowerCase())) {
    throw new RequestError('unsupported_media_type', 'Content-Encoding is not supported.');
  }
}

/** Bytes that a client must send in the time that it has for them. */
const SENT_BYTES = 64 * 1024;

/** How often the clock is read in the time that a sender has: it limits how exactly our own pauses are left out. */
const STEPS = 20;

/** Measures how long a client takes for a number of bytes. Only time in which we wait for the client counts. */
export class RateMeter {
  readonly #pieceBytes: number;
  readonly #timeoutMs: number;
  #bytes = 0;
  #waitedMs = 0;

  constructor(pieceBytes: number, timeoutMs: number) {
    this.#pieceBytes = pieceBytes;
    this.#timeoutMs = timeoutMs;
  }

  get leftMs(): number {
    return this.#timeoutMs - this.#waitedMs;
  }

  add(bytes: number, waitedMs: number): void {
    this.#bytes += bytes;
    this.#waitedMs += waitedMs;
    if (this.#bytes < this.#pieceBytes) return;
    this.#bytes = 0;
    this.#waitedMs = 0;
  }
}

/**
 * Aborts with `request_timeout` when the client takes longer than `timeoutMs` for 64 KiB of its body, or for what is
 * left of it. A body that we hold back, because the disk is slow, does not count.
 */
export function watchUploadRate(request: IncomingMessage, timeoutMs: number, signal: AbortSignal): Watch {
  // Small bodies arrive together with their head.
  if (request.complete) return { signal, [Symbol.dispose]: () => undefined };
  const { socket } = request;
  const meter = new RateMeter(SENT_BYTES, timeoutMs);
  let seenBytes = socket.bytesRead;
  let seenAt = performance.now();
  return watchBody(signal, Math.max(1, timeoutMs / STEPS), (abort) => {
    const now = performance.now();
    const isWaiting = !request.isPaused() && !socket.isPaused() && !request.complete;
    meter.add(socket.bytesRead - seenBytes, isWaiting ? now - seenAt : 0);
    seenBytes = socket.bytesRead;
    seenAt = now;
    if (meter.leftMs <= 0) abort(`Fewer than ${SENT_BYTES} bytes of the body arrived in ${timeoutMs} ms.`);
  });
}

/**
 * Aborts with `request_timeout` when nothing of an incomplete body arrives for `timeoutMs`. A body that we hold back,
 * because the disk is slow, does not count.
 */
export function watchIdleBody(request: IncomingMessage, timeoutMs: number, signal: AbortSignal): Watch {
  const { socket } = request;
  let seenBytes = socket.bytesRead;
  return watchBody(signal, timeoutMs, (abort) => {
    const isWaiting = !request.isPaused() && !socket.isPaused() && !request.complete;
    if (isWaiting && socket.bytesRead === seenBytes)
      abort(`Nothing of the body arrived for ${timeoutMs} ms.`);
    seenBytes = socket.bytesRead;
  });
}

interface Watch extends Disposable {
  readonly signal: AbortSignal;
}

/** Looks at a body again and again, until the watch is disposed of. */
function watchBody(
  signal: AbortSignal,
  intervalMs: number,
  look: (abort: (message: string) => void) => void,
): Watch {
  // `AbortSignal.any` takes several times as long. The signal lives as long as the body, and may hold the controller.
  const late = new AbortController();
  const follow = (): void => late.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  const abort = (message: string): void => late.abort(new RequestError('request_timeout', message));
  const timer = setInterval(() => look(abort), intervalMs);
  timer.unref();
  return { signal: late.signal, [Symbol.dispose]: () => clearInterval(timer) };
}
