import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';
import { limitClosing, writeStream } from '../minimum-rate.ts';
import { awaitsBody } from '../request/read-body.ts';
import { requestState } from '../request/track-request.ts';
import { chooseCoding, compressBytes, compressStream } from './compress.ts';
import { type RouteResponse, toJsonText } from './response.ts';

/** Headers of a response that a client already has, and that 304 therefore omits. */
const BODY_HEADERS = ['Content-Type', 'Content-Encoding', 'Content-Disposition'];

/**
 * Sends a response, compressed if the client accepts that, or 304 if the client has the entity that its `ETag` names. A
 * stream is pulled as fast as the client reads; `signal` ends it, and so does a client that takes longer than
 * `slowReaderTimeoutMs` for 512 KiB.
 */
export async function sendResponse(
  request: Request,
  response: Response,
  result: RouteResponse,
  signal: () => AbortSignal,
  slowReaderTimeoutMs: number,
): Promise<void> {
  try {
    response.status(result.status);
    for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
    if (result.kind === 'stream') {
      const coding = chooseCoding(request, response);
      if (isUnchanged(request.get('if-none-match'), response.getHeader('ETag'))) {
        for (const name of BODY_HEADERS) response.removeHeader(name);
        endResponse(request, response.status(304));
        return;
      }
      if (request.method !== 'HEAD') {
        const body = coding === null ? result.body : compressStream(result.body, coding);
        await writeStream(response, body, slowReaderTimeoutMs, signal());
      }
      endResponse(request, response);
      limitClosing(response, slowReaderTimeoutMs);
    } else if (result.kind === 'empty') {
      endResponse(request, response);
    } else {
      if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
      await endWithText(
        request,
        response,
        result.kind === 'json' ? `${toJsonText(result.body)}\n` : result.body,
      );
    }
  } finally {
    if (result.kind === 'stream') await result.close();
  }
}

/**
 * Ends a response with a text, compressed if the client accepts that. A HEAD request gets the length, unless the text
 * is compressed: only compressing it would tell.
 */
export async function endWithText(request: Request, response: Response, text: string): Promise<void> {
  // Node would encode a string together with the headers, whose bytes are Latin-1.
  const bytes = Buffer.from(text);
  const coding = chooseCoding(request, response, bytes.byteLength);
  if (request.method === 'HEAD') {
    if (coding === null) response.setHeader('Content-Length', bytes.byteLength);
    endResponse(request, response);
    return;
  }
  const sent = coding === null ? bytes : await compressBytes(bytes, coding);
  response.setHeader('Content-Length', sent.byteLength);
  endResponse(request, response, sent);
}

/** How long a client may continue to send a body that is discarded, and how long it may pause. */
const LEFTOVER_BODY_MS = 5000;
const LEFTOVER_PAUSE_MS = 1000;

/**
 * Ends a response, with its last bytes.
 *
 * While the client is still sending its body, closing the connection would make its system discard the response too
 * (RFC 9112 section 9.6). The response is then sent whole, the rest of the body is discarded for a while, and only then
 * the connection is closed.
 */
export function endResponse(request: IncomingMessage, response: ServerResponse, body?: Uint8Array): void {
  if (!awaitsBody(request)) {
    response.end(body);
    return;
  }
  if (!response.headersSent) response.setHeader('Connection', 'close');
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  requestState(request).setResponded();
  request.once('end', () => response.end());
  discardBody(request, () => response.end(() => request.socket.destroy()));
}

/**
 * Discards what is left of a body. Calls `onTimeout` when it takes too long, or when the client pauses.
 */
export function discardBody(
  request: IncomingMessage,
  onTimeout: () => void = () => request.socket.destroy(),
): void {
  if (!awaitsBody(request)) return;
  let seen = request.socket.bytesRead;
  let leftMs = LEFTOVER_BODY_MS;
  const timer = setInterval(() => {
    leftMs -= LEFTOVER_PAUSE_MS;
    if (request.socket.bytesRead === seen || leftMs <= 0) {
      clearInterval(timer);
      onTimeout();
    }
    seen = request.socket.bytesRead;
  }, LEFTOVER_PAUSE_MS);
  timer.unref();
  request.once('close', () => clearInterval(timer));
  request.resume();
}

/** Whether a list of entity tags names this one, by weak comparison (RFC 9110 section 13.1.2). */
export function isUnchanged(ifNoneMatch: string | undefined, etag: unknown): boolean {
  if (ifNoneMatch === undefined || typeof etag !== 'string') return false;
  const tags = ifNoneMatch.split(',').map((tag) => withoutWeak(tag.trim()));
  return tags.includes('*') || tags.includes(withoutWeak(etag));
}

const withoutWeak = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);
