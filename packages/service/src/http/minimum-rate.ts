import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RequestError } from './request/request-error.ts';

/** Bytes that a client must send, and take, in the time that it has for them. */
const SENT_BYTES = 64 * 1024;
const TAKEN_BYTES = 512 * 1024;

/** How often the clock is read in the time that a sender has: it limits how exactly our own pauses are left out. */
const STEPS = 20;

/** Measures how long a client takes for a number of bytes. Only time in which we wait for the client counts. */
class RateMeter {
  readonly #pieceBytes: number;
  readonly #timeoutMs: number;
  #bytes = 0;
  #waitedMs = 0;

  constructor(pieceBytes: number, timeoutMs: number) {
    this.#pieceBytes = pieceBytes;
    this.#timeoutMs = timeoutMs;
  }

  get leftMs(): number {
    return this.#timeoutMs - this.#waitedMs;
  }

  add(bytes: number, waitedMs: number): void {
    this.#bytes += bytes;
    this.#waitedMs += waitedMs;
    if (this.#bytes < this.#pieceBytes) return;
    this.#bytes = 0;
    this.#waitedMs = 0;
  }
}

/**
 * Aborts with `request_timeout` when the client takes longer than `timeoutMs` for 64 KiB of its body, or for what is
 * left of it. A body that we hold back, because the disk is slow, does not count.
 */
export function watchUploadRate(request: IncomingMessage, timeoutMs: number, signal: AbortSignal): Watch {
  // Small bodies arrive together with their head.
  if (request.complete) return { signal, [Symbol.dispose]: () => undefined };
  const { socket } = request;
  const meter = new RateMeter(SENT_BYTES, timeoutMs);
  let seenBytes = socket.bytesRead;
  let seenAt = performance.now();
  return watchBody(signal, Math.max(1, timeoutMs / STEPS), (abort) => {
    const now = performance.now();
    const isWaiting = !request.isPaused() && !socket.isPaused() && !request.complete;
    meter.add(socket.bytesRead - seenBytes, isWaiting ? now - seenAt : 0);
    seenBytes = socket.bytesRead;
    seenAt = now;
    if (meter.leftMs <= 0) abort(`Fewer than ${SENT_BYTES} bytes of the body arrived in ${timeoutMs} ms.`);
  });
}

/**
 * Aborts with `request_timeout` when nothing of an incomplete body arrives for `timeoutMs`. A body that we hold back,
 * because the disk is slow, does not count.
 */
export function watchIdleBody(request: IncomingMessage, timeoutMs: number, signal: AbortSignal): Watch {
  const { socket } = request;
  let seenBytes = socket.bytesRead;
  return watchBody(signal, timeoutMs, (abort) => {
    const isWaiting = !request.isPaused() && !socket.isPaused() && !request.complete;
    if (isWaiting && socket.bytesRead === seenBytes)
      abort(`Nothing of the body arrived for ${timeoutMs} ms.`);
    seenBytes = socket.bytesRead;
  });
}

interface Watch extends Disposable {
  readonly signal: AbortSignal;
}

/** Looks at a body again and again, until the watch is disposed of. */
function watchBody(
  signal: AbortSignal,
  intervalMs: number,
  look: (abort: (message: string) => void) => void,
): Watch {
  // `AbortSignal.any` takes several times as long. The signal lives as long as the body, and may hold the controller.
  const late = new AbortController();
  const follow = (): void => late.abort(signal.reason);
  if (signal.aborted) follow();
  else signal.addEventListener('abort', follow, { once: true });
  const abort = (message: string): void => late.abort(new RequestError('request_timeout', message));
  const timer = setInterval(() => look(abort), intervalMs);
  timer.unref();
  return { signal: late.signal, [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Writes a stream to a response. Destroys the response when its reader takes longer than `timeoutMs` for 512 KiB: a
 * stream holds a connection to the database, and a reader that stalls would keep it from all others.
 */
export async function writeStream(
  response: ServerResponse,
  chunks: AsyncIterable<Uint8Array>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const meter = new RateMeter(TAKEN_BYTES, timeoutMs);
  let unreadBytes = 0;
  for await (const chunk of chunks) {
    signal.throwIfAborted();
    for (let at = 0; at < chunk.byteLength; at += TAKEN_BYTES) {
      const piece = chunk.subarray(at, at + TAKEN_BYTES);
      unreadBytes += piece.byteLength;
      if (response.write(piece)) continue;
      const startedAt = performance.now();
      using _timer = destroyAfter(response, Math.max(1, meter.leftMs));
      await once(response, 'drain', { signal }).catch((error: unknown) => {
        signal.throwIfAborted();
        throw error;
      });
      meter.add(unreadBytes, performance.now() - startedAt);
      unreadBytes = 0;
    }
  }
}

/** Destroys a response that is not closed `timeoutMs` after its last byte was written. */
export function limitClosing(response: ServerResponse, timeoutMs: number): void {
  if (response.closed) return;
  const timer = destroyAfter(response, timeoutMs);
  response.once('close', () => timer[Symbol.dispose]());
}

function destroyAfter(response: ServerResponse, timeoutMs: number): Disposable {
  const timer = setTimeout(() => response.destroy(), timeoutMs);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
