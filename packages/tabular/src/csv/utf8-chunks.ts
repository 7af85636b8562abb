import { decodeText, isUtf8 } from '../text/decode-text.ts';

interface Utf8Options {
  readonly file: string;
  readonly encoding: string;
  readonly signal: AbortSignal | undefined;
}

/** The bytes of a text file in UTF-8, without a byte order mark. */
export async function* utf8Chunks(
  content: AsyncIterable<Uint8Array>,
  options: Utf8Options,
): AsyncGenerator<Uint8Array> {
  if (!isUtf8(options.encoding)) {
    const encoder = new TextEncoder();
    for await (const text of decodeText(content, options)) yield encoder.encode(text);
    return;
  }
  let head: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of content) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = joinBytes(head, chunk);
    if (head.length < MARK.length) continue;
    yield withoutMark(head);
    head = null;
  }
  if (head !== null && head.length > 0) yield withoutMark(head);
}

function joinBytes(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

const MARK = [0xef, 0xbb, 0xbf];

function withoutMark(bytes: Uint8Array): Uint8Array {
  return MARK.every((byte, index) => bytes[index] === byte) ? bytes.subarray(MARK.length) : bytes;
}
