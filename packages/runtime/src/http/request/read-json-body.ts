import { JsonlError } from '@svc/jsonl-v23';
import { ValueCounter } from '@svc/jsonl-v23/internal';
import { type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import type { Request } from 'express';
import { RequestError } from './request-error.ts';

export interface BodyLimits {
  readonly maxJsonBodyBytes: number;
  readonly maxJsonDepth: number;
  readonly jsonRequestTimeoutMs: number;
}

/**
 * JSON values that a body may hold. Parsing costs time by value, not by byte: 1 MB of small objects keeps the main
 * thread busy for a tenth of a second.
 */
const MAX_BODY_VALUES = 25_000;

/**
 * Reads a whole JSON body (RFC 8259, UTF-8), strictly: repeated keys and nesting beyond the limit are errors,
 * numbers keep every digit.
 *
 * @throws RequestError `unsupported_media_type`, `body_too_large`, `request_timeout`, `invalid_json`
 */
export async function readJsonBody(
  request: Request,
  limits: BodyLimits,
  signal: AbortSignal,
): Promise<JsonValue> {
  if (!request.is(['application/json', '+json'])) {
    throw new RequestError(
      'unsupported_media_type',
      `the body is application/json, not ${JSON.stringify(request.get('content-type') ?? 'nothing')}`,
    );
  }
  if (!['identity', undefined].includes(request.get('content-encoding')?.toLowerCase())) {
    throw new RequestError('unsupported_media_type', 'a compressed body is not taken');
  }
  const bytes = await readBytes(request, limits, signal);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RequestError('invalid_json', 'the body is not valid UTF-8', { cause: error });
  }
  try {
    return parseJson(text, { maxDepth: limits.maxJsonDepth });
  } catch (error) {
    if (!(error instanceof JsonlError)) throw error;
    const { line, column, path } = error.location;
    throw new RequestError('invalid_json', `the body is not valid JSON: ${error.message}`, {
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

function readBytes(request: Request, limits: BodyLimits, signal: AbortSignal): Promise<Buffer> {
  const tooLarge = (): RequestError =>
    new RequestError('body_too_large', `the body is larger than ${limits.maxJsonBodyBytes} bytes`);
  const tooManyValues = (): RequestError =>
    new RequestError('body_too_large', `The body must hold at most ${MAX_BODY_VALUES} JSON values.`);
  if (Number(request.get('content-length') ?? 0) > limits.maxJsonBodyBytes) return Promise.reject(tooLarge());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const counter = new ValueCounter();
    const end = (action: () => void): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      request.off('data', onData).off('end', onEnd).off('error', onError);
      action();
    };
    const onData = (chunk: Buffer): void => {
      const isTooLarge = counter.bytes + chunk.byteLength > limits.maxJsonBodyBytes;
      if (!isTooLarge) counter.add(chunk);
      if (isTooLarge) end(() => reject(tooLarge()));
      else if (counter.values > MAX_BODY_VALUES) end(() => reject(tooManyValues()));
      else chunks.push(chunk);
    };
    const onEnd = (): void => end(() => resolve(Buffer.concat(chunks)));
    const onError = (error: Error): void => end(() => reject(error));
    const onAbort = (): void => end(() => reject(signal.reason));
    const timer = setTimeout(
      () =>
        end(() =>
          reject(
            new RequestError(
              'request_timeout',
              `the body did not arrive within ${limits.jsonRequestTimeoutMs} ms`,
            ),
          ),
        ),
      limits.jsonRequestTimeoutMs,
    );
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('error', onError);
  });
}
