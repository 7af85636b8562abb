import type { IncomingMessage, ServerResponse } from 'node:http';
import { awaitsBody } from '../request/awaits-body.ts';
import { requestState } from '../request/track-request.ts';

/** How long a client may go on sending a body that nobody reads any more, and be silent while it does. */
const LEFTOVER_BODY_MS = 5000;
const LEFTOVER_PAUSE_MS = 1000;

/**
 * Ends an answer, with its last bytes, or a text of ASCII.
 *
 * Where the client is still sending a body that is not wanted, closing the connection at once would make its system
 * throw the answer away with it (RFC 9112 section 9.6). The answer then goes out whole, what still comes is
 * discarded for a while, and only then the connection ends.
 */
export function endResponse(
  request: IncomingMessage,
  response: ServerResponse,
  body?: Uint8Array | string,
): void {
  if (!awaitsBody(request)) {
    if (typeof body === 'string') response.end(body, 'latin1');
    else response.end(body);
    return;
  }
  if (!response.headersSent) response.setHeader('Connection', 'close');
  if (body === undefined) response.flushHeaders();
  else response.write(typeof body === 'string' ? Buffer.from(body, 'latin1') : body);
  requestState(request).setResponded();
  request.once('end', () => response.end());
  discardBody(request, () => response.end(() => request.socket.destroy()));
}

/**
 * Reads what is left of a body and keeps nothing of it. `giveUp` is called when it takes too long, or when the client
 * sends no more.
 */
export function discardBody(
  request: IncomingMessage,
  onRetriesExhausted: () => void = () => request.socket.destroy(),
): void {
  if (!awaitsBody(request)) return;
  let seen = request.socket.bytesRead;
  let leftMs = LEFTOVER_BODY_MS;
  const timer = setInterval(() => {
    leftMs -= LEFTOVER_PAUSE_MS;
    if (request.socket.bytesRead === seen || leftMs <= 0) {
      clearInterval(timer);
      onRetriesExhausted();
    }
    seen = request.socket.bytesRead;
  }, LEFTOVER_PAUSE_MS);
  timer.unref();
  request.once('close', () => clearInterval(timer));
  request.resume();
}
