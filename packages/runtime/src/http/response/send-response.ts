import type { IncomingMessage, ServerResponse } from 'node:http';
import { limitClosing, writeStream } from '../minimum-rate.ts';
import { endResponse } from './end-response.ts';
import { toJsonText } from './json-text.ts';
import type { RouteResponse } from './response.ts';

/**
 * Sends a response. A stream is pulled as fast as the client reads; `signal` ends it, and so does a client that takes
 * longer than `slowReaderTimeoutMs` for 512 KiB.
 */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  result: RouteResponse,
  signal: () => AbortSignal,
  slowReaderTimeoutMs: number,
): Promise<void> {
  response.statusCode = result.status;
  for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
  switch (result.kind) {
    case 'empty':
      endResponse(request, response);
      return;
    case 'text':
      endWithText(request, response, result.body);
      return;
    case 'json':
      if (!response.hasHeader('Content-Type')) response.setHeader('Content-Type', 'application/json');
      endWithText(request, response, toJsonText(result.body));
      return;
    case 'stream':
      try {
        if (request.method !== 'HEAD') {
          await writeStream(response, result.body, slowReaderTimeoutMs, signal());
        }
        endResponse(request, response);
        limitClosing(response, slowReaderTimeoutMs);
      } finally {
        await result.close();
      }
  }
}

/** Ends a response with a text, of which a HEAD request gets the length. */
export function endWithText(request: IncomingMessage, response: ServerResponse, text: string): void {
  const bytes = Buffer.from(text);
  response.setHeader('Content-Length', bytes.byteLength);
  endResponse(request, response, request.method === 'HEAD' ? undefined : bytes);
}
