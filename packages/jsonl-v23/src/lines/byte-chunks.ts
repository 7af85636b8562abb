import { type ChunkSource, chunksOf, isWebStream, typeName } from '../arguments/web-stream.ts';

/** What items can be read from: a text or its UTF-8 bytes, whole or in chunks. */
export type ItemSource =
  | string
  | Uint8Array
  | Iterable<string | Uint8Array>
  | ChunkSource<string>
  | ChunkSource<Uint8Array>
  | ChunkSource<string | Uint8Array>;

/**
 * The chunks of a source as bytes. Closing the result closes the source, also while it waits for a chunk.
 *
 * @throws TypeError for a source or a chunk of another type
 */
export function byteChunks(source: ItemSource): AsyncIterable<Uint8Array> {
  const encoder = new TextEncoder();
  const toBytes = (chunk: unknown): Uint8Array => {
    if (chunk instanceof Uint8Array) return chunk;
    if (typeof chunk === 'string') return encoder.encode(chunk);
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
          if (done === true) return { done, value: undefined };
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
