import type { IncomingMessage, ServerResponse } from 'node:http';
import { awaitsBody } from '../request/request-body.ts';
import { requestState } from '../request/track-request.ts';

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
