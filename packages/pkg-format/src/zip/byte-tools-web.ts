import { decodeBase64 as decodeAnyBase64, isBase64 } from '@svc/jsonl-v23/internal';
import { entryError } from '../errors.ts';
import type { ZipEntry } from './zip-entry.ts';

export { encodeBase64 } from '@svc/jsonl-v23/internal';
export { crc32 } from './crc32.ts';

/** A decompressor may emit the whole output of one piece as one chunk, up to 1032 times as large. */
const PIECE_BYTES = 8 * 1024;

/** The bytes of a base64 text; null unless encoding them gives exactly this text (RFC 4648 section 4). */
export function decodeBase64(text: string): Uint8Array | null {
  return isBase64(text) ? decodeAnyBase64(text) : null;
}

/**
 * Inflates the raw deflate data of an entry (RFC 1951) as fast as the result is read. Stopping early closes `packed` and
 * frees the inflater.
 *
 * @param _isTransient makes no difference here
 * @throws PackageError `package_corrupt` if the data is broken or cut off, or if bytes follow its end; errors of `packed`
 */
export async function* inflateRaw(
  packed: AsyncIterable<Uint8Array>,
  entry: ZipEntry,
  _isTransient = false,
): AsyncGenerator<Uint8Array> {
  const pieces = piecesOf(packed);
  let sourceFailure: { error: unknown } | undefined;
  const source = new ReadableStream<Uint8Array<ArrayBuffer>>(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          sourceFailure = { error };
          throw error;
        }
      },
    },
    { highWaterMark: 0 },
  );
  const reader = source.pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } catch (error) {
    if (sourceFailure) throw sourceFailure.error;
    throw entryError('package_corrupt', entry.name, 'is not exactly one valid deflate stream', error);
  } finally {
    await reader.cancel().catch(() => {});
    await pieces.return();
  }
}

async function* piecesOf(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; at += PIECE_BYTES) {
      yield chunk.subarray(at, at + PIECE_BYTES) as Uint8Array<ArrayBuffer>;
    }
  }
}

/** Browsers cannot inflate synchronously: see `byte-tools-node.ts`. */
export function inflateSmall(): null {
  return null;
}
