import { JsonlError } from '@svc/jsonl-v23';
import { ValueCounter } from '@svc/jsonl-v23/internal';
import { type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { Request } from 'express';
import type { ParseBody } from '../route.ts';
import { bodyChunks } from './body-chunks.ts';
import { checkMediaType } from './request-body.ts';
import { RequestError } from './request-error.ts';

export interface BodyLimits {
  readonly maxJsonBodyBytes: number;
  readonly maxJsonDepth: number;
  readonly jsonRequestTimeoutMs: number;
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

/** The bytes of a body. @throws RequestError `body_too_large`, `request_timeout` */
export async function readBytes(
  request: Request,
  limits: BodyLimits,
  signal: AbortSignal,
): Promise<Buffer<ArrayBuffer>> {
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
