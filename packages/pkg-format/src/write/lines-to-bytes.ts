import { encodeText } from './encode-text.ts';
import { interruptible } from './interruptible.ts';

const CHUNK_LENGTH = 64 * 1024;

/**
 * Encodes lines as UTF-8, each followed by a line feed, in chunks of some 64 KiB that do not depend on the batches. Cuts
 * a long line into pieces and lets the event loop run between them. A line may come in pieces itself.
 */
export async function* linesToBytes(
  batches: AsyncIterable<readonly (string | AsyncIterable<string>)[]>,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let waiting: string[] = [];
  let length = 0;
  for await (const batch of batches) {
    for (const line of batch) {
      if (typeof line !== 'string' || line.length > CHUNK_LENGTH) {
        if (length > 0) yield encoder.encode(waiting.join(''));
        if (typeof line === 'string') yield* interruptible(encodeText(line));
        else for await (const piece of line) yield* encodeText(piece);
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
