import type { IncomingMessage } from 'node:http';
import { RequestError } from './request-error.ts';

/** How much of a body arrives, at least, in the time that it has. */
const PIECE_BYTES = 64 * 1024;
/** How often the clock is looked at in that time: what we hold back ourselves is known to so much of it. */
const STEPS = 20;

/**
 * Watches how fast a request body arrives while `read` works on it: its signal aborts with `request_timeout` when
 * `timeoutMs` pass in which neither 64 KiB nor the end arrives. Only the time counts in which we wait for the client: a
 * slow disk holds the body back and is no fault of its sender.
 */
export async function withMinimumRate<T>(
  request: IncomingMessage,
  timeoutMs: number,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const slow = new AbortController();
  const { socket } = request;
  let pieceStart = socket.bytesRead;
  let waitedMs = 0;
  let lookedAt = performance.now();
  const timer = setInterval(
    () => {
      const now = performance.now();
      const heldBack = request.isPaused() || socket.isPaused();
      if (!heldBack && !request.complete) waitedMs += now - lookedAt;
      lookedAt = now;
      if (socket.bytesRead - pieceStart >= PIECE_BYTES) {
        pieceStart = socket.bytesRead;
        waitedMs = 0;
      } else if (waitedMs >= timeoutMs) {
        const message = `less than ${PIECE_BYTES} bytes of the body arrived in ${timeoutMs} ms`;
        slow.abort(new RequestError('request_timeout', message));
      }
    },
    Math.max(1, timeoutMs / STEPS),
  );
  timer.unref();
  try {
    return await read(AbortSignal.any([signal, slow.signal]));
  } finally {
    clearInterval(timer);
  }
}
