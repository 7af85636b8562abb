import type { IncomingMessage, ServerResponse } from 'node:http';
import { endResponse } from './end-response.ts';
import { toJsonText } from './json-text.ts';
import type { Answer, BufferedResponse } from './response.ts';
import { watchPace } from './watch-pace.ts';

/**
 * Writes an answer. A stream is pulled only as fast as the client reads; `signal` ends it, and so does a client that
 * takes longer than `slowReaderTimeoutMs` for 512 KiB.
 */
export async function sendResponse(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  signal: () => AbortSignal,
  slowReaderTimeoutMs: number,
): Promise<void> {
  if (answer.kind !== 'stream') {
    sendWhole(request, response, answer);
    return;
  }
  try {
    sendHead(response, answer);
    await sendStream(request, response, answer.body, signal(), slowReaderTimeoutMs);
  } finally {
    await answer.close();
  }
}

/** Writes an answer whose bytes are all there. */
export function sendWhole(
  request: IncomingMessage,
  response: ServerResponse,
  answer: BufferedResponse,
): void {
  sendHead(response, answer);
  if (answer.kind === 'empty') {
    endResponse(request, response);
    return;
  }
  if (answer.kind === 'json' && !response.hasHeader('Content-Type')) {
    response.setHeader('Content-Type', 'application/json');
  }
  endWithText(request, response, answer.kind === 'json' ? toJsonText(answer.body) : answer.body);
}

/** Ends an answer with a text, which a HEAD request gets the length of. */
export function endWithText(request: IncomingMessage, response: ServerResponse, text: string): void {
  const byteLength = Buffer.byteLength(text);
  response.setHeader('Content-Length', byteLength);
  if (request.method === 'HEAD') endResponse(request, response);
  // Node writes head and text in one piece where both are strings, and in the encoding of the text. Headers are Latin-1:
  // UTF-8 would encode what they hold beyond ASCII a second time.
  else if (byteLength === text.length) endResponse(request, response, text);
  else endResponse(request, response, Buffer.from(text));
}

function sendHead(response: ServerResponse, { status, headers }: Answer): void {
  response.statusCode = status;
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

async function sendStream(
  request: IncomingMessage,
  response: ServerResponse,
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  slowReaderTimeoutMs: number,
): Promise<void> {
  if (request.method === 'HEAD') {
    endResponse(request, response);
    return;
  }
  const pace = watchPace(response, slowReaderTimeoutMs);
  for await (const chunk of body) {
    signal.throwIfAborted();
    await pace.write(chunk, signal);
  }
  endResponse(request, response);
  pace.end();
}
