import { on } from 'node:events';
import type { Request } from 'express';

/**
 * Reads a body as fast as it is taken: while no chunk is taken, the client waits. The request stays open when the loop
 * ends early, so that it can be answered.
 *
 * @throws the reason of `signal` when it aborts
 */
export async function* bodyChunks(request: Request, signal: AbortSignal): AsyncGenerator<Buffer> {
  const events = on(request, 'data', { signal, close: ['end'], highWaterMark: 1, lowWaterMark: 1 });
  request.resume();
  try {
    for await (const [chunk] of events as AsyncIterable<[Buffer]>) yield chunk;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
