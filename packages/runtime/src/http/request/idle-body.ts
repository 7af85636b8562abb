import type { IncomingMessage } from 'node:http';
import { RequestError } from './request-error.ts';

/**
 * Watches a request body while `read` works on it: its signal aborts when nothing of the body arrives for
 * `timeoutMs` while it is not complete. Bodies that we ourselves hold back, because the disk is slow, do not count.
 */
export async function withIdleTimeout<T>(
  request: IncomingMessage,
  timeoutMs: number,
  signal: AbortSignal,
  read: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const idle = new AbortController();
  let seen = request.socket.bytesRead;
  const timer = setInterval(() => {
    const heldBack = request.isPaused() || request.socket.isPaused();
    if (!heldBack && !request.complete && request.socket.bytesRead === seen) {
      idle.abort(new RequestError('request_timeout', `nothing of the body arrived for ${timeoutMs} ms`));
    }
    seen = request.socket.bytesRead;
  }, timeoutMs);
  timer.unref();
  try {
    return await read(AbortSignal.any([signal, idle.signal]));
  } finally {
    clearInterval(timer);
  }
}
