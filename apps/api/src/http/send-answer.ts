import { once } from 'node:events';
import type { Request, Response } from 'express';
import type { Answer } from './answer.ts';
import { endAnswer } from './end-answer.ts';
import { toJsonText } from './json-text.ts';

/**
 * Writes an answer. Bodies are sent as bytes, so that a header that holds bytes beyond ASCII is not
 * encoded a second time. A stream is pulled only as fast as the client reads; `signal` ends it.
 */
export async function sendAnswer(
  request: Request,
  response: Response,
  answer: Answer,
  signal: () => AbortSignal,
): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  if (answer.kind === 'empty') {
    endAnswer(request, response);
    return;
  }
  if (answer.kind === 'stream') {
    try {
      await sendStream(request, response, answer.body, signal());
    } finally {
      await answer.close();
    }
    return;
  }
  if (answer.kind === 'json' && !response.hasHeader('Content-Type')) {
    response.setHeader('Content-Type', 'application/json');
  }
  const body = Buffer.from(answer.kind === 'json' ? toJsonText(answer.body) : answer.body);
  response.setHeader('Content-Length', body.byteLength);
  endAnswer(request, response, request.method === 'HEAD' ? undefined : body);
}

/** A reader that takes nothing at all for so long holds a connection and a database cursor for nothing. */
const READER_TIMEOUT_MS = 120_000;

async function sendStream(
  request: Request,
  response: Response,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  if (request.method === 'HEAD') {
    endAnswer(request, response);
    return;
  }
  response.setTimeout(READER_TIMEOUT_MS, () => response.destroy());
  for await (const chunk of body) {
    signal.throwIfAborted();
    if (!response.write(chunk)) await once(response, 'drain', { signal });
  }
  endAnswer(request, response);
}
