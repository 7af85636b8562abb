import { joinBytes } from '../json/bytes.ts';
import { type ChunkSource, chunksOf, isWebStream, typeName } from '../streams.ts';

/** What items can be read from: a text or its UTF-8 bytes, whole or in chunks. */
export type ItemSource =
  | string
  | Uint8Array
  | Iterable<string | Uint8Array>
  | ChunkSource<string>
  | ChunkSource<Uint8Array>
  | ChunkSource<string | Uint8Array>;

/** Closing the result closes the source. A surrogate without its pair becomes bytes that the reader refuses. */
export function byteChunks(source: ItemSource): AsyncIterable<Uint8Array> {
  /** A high surrogate at the end of a text, whose low surrogate may begin the next one. */
  let held = '';
  const takeHeld = (): Uint8Array => {
    const bytes = encodeText(held);
    held = '';
    return bytes;
  };
  const toBytes = (chunk: unknown): Uint8Array => {
    if (chunk instanceof Uint8Array) return held === '' ? chunk : joinBytes([takeHeld(), chunk]);
    if (typeof chunk === 'string') {
      const text = held + chunk;
      held = endsInHighSurrogate(text) ? text.slice(-1) : '';
      return encodeText(held === '' ? text : text.slice(0, -1));
    }
    throw new TypeError(`A chunk of items must be a string or a Uint8Array, got ${typeName(chunk)}.`);
  };
  return {
    [Symbol.asyncIterator]: () => {
      const chunks = iteratorOf(source);
      const close = async (): Promise<IteratorReturnResult<undefined>> => {
        await chunks.return?.();
        return { done: true, value: undefined };
      };
      return {
        next: async () => {
          const { done, value } = await chunks.next();
          if (done === true) {
            return held === '' ? { done, value: undefined } : { done: false, value: takeHeld() };
          }
          try {
            return { done: false, value: toBytes(value) };
          } catch (error) {
            await close();
            throw error;
          }
        },
        return: close,
      };
    },
  };
}

const encoder = new TextEncoder();

/** The UTF-8 bytes of a text. A lone surrogate becomes its three bytes by the same rule, which UTF-8 excludes. */
function encodeText(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  if (text.isWellFormed()) return bytes;
  // The encoder has written U+FFFD for each, which also has three bytes.
  let at = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) {
      bytes.set([0xed, 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)], at);
    }
    at += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

function endsInHighSurrogate(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

function iteratorOf(source: ItemSource): AsyncIterator<unknown> | Iterator<unknown> {
  if (typeof source === 'string' || source instanceof Uint8Array) return [source].values();
  if (typeof source === 'object' && source !== null) {
    if (isWebStream(source) || Symbol.asyncIterator in source) return chunksOf<unknown>(source);
    if (Symbol.iterator in source) return source[Symbol.iterator]();
  }
  throw new TypeError(
    `Items must come as a string, a Uint8Array, a web stream or an iterable, got ${typeName(source)}.`,
  );
}
