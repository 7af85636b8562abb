import type { Request, Response } from 'express';
import { limitClosing, writeStream } from '../minimum-rate.ts';
import { chooseCoding, compressBytes, compressStream } from './compress.ts';
import { endResponse } from './end-response.ts';
import { isUnchanged } from './is-unchanged.ts';
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
