import type { IncomingMessage } from 'node:http';
import type { BodyWatch } from '../minimum-rate.ts';
import { followSignal } from './follow-signal.ts';
import { RequestError } from './request-error.ts';

/**
 * Aborts with `request_timeout` when nothing of an incomplete body arrives for `timeoutMs`. A body that we hold back,
 * because the disk is slow, does not count.
 */
export function watchIdleBody(request: IncomingMessage, timeoutMs: number, signal: AbortSignal): BodyWatch {
  const idle = followSignal(signal);
  let seenBytes = request.socket.bytesRead;
  const timer = setInterval(() => {
    const isPaused = request.isPaused() || request.socket.isPaused();
    if (!isPaused && !request.complete && request.socket.bytesRead === seenBytes) {
      idle.abort(new RequestError('request_timeout', `Nothing of the body arrived for ${timeoutMs} ms.`));
    }
    seenBytes = request.socket.bytesRead;
  }, timeoutMs);
  timer.unref();
  return {
    signal: idle.signal,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
