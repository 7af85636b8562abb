import { entryError } from '../errors.ts';
import type { ZipEntry } from './byte-source.ts';

/** A decompressor may emit the whole output of one piece as one chunk, up to 1032 times as large. */
const PIECE_BYTES = 8 * 1024;

/** Inflates raw deflate data (RFC 1951) as fast as the result is read. Stopping early closes `packed`. */
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

/**
 * The CRC-32 of ZIP (ISO 3309, polynomial 0xEDB88320), four bytes at a time.
 *
 * @param value of the bytes before; 0 at the start
 */
export function crc32(bytes: Uint8Array, value: number): number {
  table ??= createTable();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let crc = ~value;
  let at = 0;
  for (const end = bytes.byteLength - 3; at < end; at += 4) {
    crc ^= view.getInt32(at, true);
    crc =
      lookUp(table, 3, crc) ^
      lookUp(table, 2, crc >>> 8) ^
      lookUp(table, 1, crc >>> 16) ^
      lookUp(table, 0, crc >>> 24);
  }
  for (; at < bytes.byteLength; at += 1) crc = (crc >>> 8) ^ lookUp(table, 0, crc ^ view.getUint8(at));
  return ~crc >>> 0;
}

/** The checksum of each byte followed by 0 to 3 zero bytes; 256 numbers each. */
let table: Int32Array | undefined;

function lookUp(numbers: Int32Array, zeroBytes: number, byte: number): number {
  return numbers[zeroBytes * 256 + (byte & 0xff)] as number;
}

function createTable(): Int32Array {
  const numbers = new Int32Array(4 * 256);
  for (let index = 0; index < numbers.length; index += 1) {
    let crc = index < 256 ? index : (numbers[index - 256] as number);
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    numbers[index] = crc;
  }
  return numbers;
}
