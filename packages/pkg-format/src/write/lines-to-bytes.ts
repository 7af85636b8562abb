import { encodeText } from './encode-text.ts';
import { interruptible } from './interruptible.ts';

const CHUNK_LENGTH = 64 * 1024;

/**
 * Encodes lines as UTF-8, each followed by a line feed, in chunks of some 64 KiB that do not depend on the batches. Cuts
 * a long line into pieces and lets the event loop run between them. A line may come in pieces itself; bytes are whole lines
 * with their line feeds, and are passed on as they are.
 */
export async function* linesToBytes(
  batches: AsyncIterable<readonly (string | Uint8Array | AsyncIterable<string | Uint8Array>)[]>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let waiting: string[] = [];
  let length = 0;
  for await (const batch of batches) {
    for (const line of batch) {
      if (line instanceof Uint8Array) {
        if (length > 0) yield encoder.encode(waiting.join(''));
        yield line;
        waiting = [];
        length = 0;
        continue;
      }
      if (typeof line !== 'string' || line.length > CHUNK_LENGTH) {
        if (length > 0) yield encoder.encode(waiting.join(''));
        if (typeof line === 'string') yield* interruptible(encodeText(line));
        else {
          for await (const piece of line) {
            if (typeof piece === 'string') yield* encodeText(piece);
            else yield piece;
          }
        }
        waiting = ['\n'];
        length = 1;
        continue;
      }
      waiting.push(line, '\n');
      length += line.length + 1;
      if (length < CHUNK_LENGTH) continue;
      yield encoder.encode(waiting.join(''));
      waiting = [];
      length = 0;
    }
  }
  if (length > 0) yield encoder.encode(waiting.join(''));
}
