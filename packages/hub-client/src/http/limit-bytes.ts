import { yieldToEventLoop } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';

/** The chunks of a body. @throws HubError `hub_bad_response` where it has more than `maxBytes` */
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
  let length = 0;
  for await (const chunk of limitBytes(chunks, maxBytes)) {
    length += chunk.length;
    parts.push(chunk);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** Reading as much JSON takes some milliseconds where it is all braces. */
const SLICE_BYTES = 16 * 1024;

/** The bytes in slices, between which the event loop turns: a stream alone may keep the thread for many chunks. */
export async function* inSlices(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      yield chunk.subarray(at, at + SLICE_BYTES);
      await yieldToEventLoop();
    }
  }
}
