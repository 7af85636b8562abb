import type { Semaphore } from '@svc/concurrency';
import { bodyChunks } from '@svc/runtime';
import type { Request } from 'express';

/** Bytes of a line that any request may hold. */
const SHORT_LINE_BYTES = 1024 * 1024;
const LINE_FEED = 10;

/** The chunks of a body of lines, and the permit of a long line, which is held until it is disposed of. */
export interface LineChunks extends Disposable {
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Reads a body of lines as fast as it is taken: while no chunk is taken, the client waits. A request whose line gets long
 * waits for a permit before it reads on, so that few long lines are in memory.
 *
 * @throws while it is read, the signal's reason, the error of `longLines`, and what `onBytes` throws
 */
export function readLineChunks(
  request: Request,
  longLines: Semaphore,
  client: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): LineChunks {
  let permit: Disposable | undefined;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    let lineBytes = 0;
    for await (const chunk of bodyChunks(request, signal)) {
      onBytes(chunk.byteLength);
      const lineFeed = chunk.lastIndexOf(LINE_FEED);
      lineBytes = lineFeed === -1 ? lineBytes + chunk.byteLength : chunk.byteLength - lineFeed - 1;
      if (lineBytes > SHORT_LINE_BYTES) permit ??= await longLines.acquire(signal, { client });
      yield chunk;
      // The line that ended in the chunk has been stored.
      if (lineFeed === -1 || lineBytes > SHORT_LINE_BYTES) continue;
      permit?.[Symbol.dispose]();
      permit = undefined;
    }
  }
  return { chunks: chunks(), [Symbol.dispose]: () => permit?.[Symbol.dispose]() };
}
