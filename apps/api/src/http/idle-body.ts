import type { Request } from 'express';
import { RequestError } from './request-error.ts';

/**
 * Watches a request body: `onIdle` is called once when nothing of it arrives for `timeoutMs` while it is not
 * complete. Bodies that we ourselves hold back, because the disk is slow, do not count as idle.
 */
export function watchIdleBody(
  request: Request,
  timeoutMs: number,
  onIdle: (error: RequestError) => void,
): () => void {
  let seen = request.socket.bytesRead;
  const timer = setInterval(() => {
    const heldBack = request.isPaused() || request.socket.isPaused();
    if (!heldBack && !request.complete && request.socket.bytesRead === seen) {
      stop();
      onIdle(new RequestError('request_timeout', `nothing of the body arrived for ${timeoutMs} ms`));
    }
    seen = request.socket.bytesRead;
  }, timeoutMs);
  timer.unref();
  const stop = (): void => clearInterval(timer);
  return stop;
}
