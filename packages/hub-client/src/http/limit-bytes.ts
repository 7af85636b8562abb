import { joinBytes } from '@svc/jsonl-v23/internal';
import { HubError } from '../errors.ts';

/** The chunks of a body. @throws HubError `hub_bad_response` if it has more than `maxBytes` */
export async function* limitBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new HubError('hub_bad_response', `The response of the hub is longer than ${maxBytes} bytes.`);
    }
    yield chunk;
  }
}

/** Reads a whole body into memory. @throws HubError `hub_bad_response` if it has more than `maxBytes` */
export async function collectBytes(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const chunk of limitBytes(chunks, maxBytes)) parts.push(chunk);
  return joinBytes(parts);
}
