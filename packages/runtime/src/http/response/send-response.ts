import type { Request, Response } from 'express';
import { limitClosing, writeStream } from '../minimum-rate.ts';
import { endResponse } from './end-response.ts';
import { toJsonText } from './json-text.ts';
import type { RouteResponse } from './response.ts';

/**
 * Sends a response. A stream is pulled as fast as the client reads; `signal` ends it, and so does a client that takes
 * longer than `slowReaderTimeoutMs` for 512 KiB.
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
      if (request.method !== 'HEAD') {
        await writeStream(response, result.body, slowReaderTimeoutMs, signal());
      }
      endResponse(request, response);
      limitClosing(response, slowReaderTimeoutMs);
    } else if (result.kind === 'empty') {
      endResponse(request, response);
    } else {
      if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
      endWithText(request, response, result.kind === 'json' ? toJsonText(result.body) : result.body);
    }
  } finally {
    if (result.kind === 'stream') await result.close();
  }
}

/** Ends a response with a text, of which a HEAD request gets the length. */
export function endWithText(request: Request, response: Response, text: string): void {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Length', bytes.byteLength);
  endResponse(request, response, request.method === 'HEAD' ? undefined : bytes);
}
