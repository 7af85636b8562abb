import { joinBytes, transferBuffer } from '@svc/jsonl-v23/bytes';
import { createYielder } from '../source/turns.ts';
import type { CachedFile } from '../text/cached-file.ts';
import { decodeText } from '../text/decode-text.ts';
import { isUtf8, type TextEncodingOptions } from '../text/encodings.ts';
import type { CsvScanner } from './csv-scanner.ts';

/** Bytes that take less than a millisecond. */
const MAX_PIECE_BYTES = 64 * 1024;
const MARK = [0xef, 0xbb, 0xbf];

/** Adds the content of a file to a scanner, and yields after each piece, and after the end. Then the scanner is freed. */
export async function* scanContent(
  file: CachedFile,
  scanner: CsvScanner,
  options: TextEncodingOptions,
): AsyncGenerator<void> {
  const { signal } = options;
  const nextTurn = createYielder();
  // Chunks from zlib may share their memory with the next chunk.
  const isOwn = file.compression === 'none';
  try {
    for await (const chunk of utf8Chunks(file.read(signal), options)) {
      for (let at = 0; at < chunk.length; at += MAX_PIECE_BYTES) {
        signal?.throwIfAborted();
        scanner.add(chunk.subarray(at, at + MAX_PIECE_BYTES));
        yield;
        const turn = nextTurn();
        if (turn !== undefined) await turn;
      }
      // The scanner has a copy. Leaving the chunk to the garbage collector would take a fifth of the reading time.
      if (isOwn && chunk.length === chunk.buffer.byteLength) transferBuffer(chunk.buffer as ArrayBuffer, 0);
    }
    scanner.end();
    yield;
  } finally {
    scanner.free();
  }
}

async function* utf8Chunks(
  content: AsyncIterable<Uint8Array>,
  options: TextEncodingOptions,
): AsyncGenerator<Uint8Array> {
  const { encoding, replaceErrors = false } = options;
  if (!isUtf8(encoding) || replaceErrors) {
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
    head = withoutMarks(head.length === 0 ? chunk : joinBytes([head, chunk]));
    if (head.length < MARK.length) continue;
    yield head;
    head = null;
  }
  if (head !== null && head.length > 0) yield head;
}

function withoutMarks(bytes: Uint8Array): Uint8Array {
  let at = 0;
  while (MARK.every((byte, index) => bytes[at + index] === byte)) at += MARK.length;
  return bytes.subarray(at);
}
