import { TableError } from './errors.ts';
import type { Inflate } from './parquet/codecs/inflate-block.ts';

/** Encodings that a body or a file may have. */
export type Compression = 'gzip' | 'zstd' | 'br';

/** Decompresses a stream with the browser's formats: gzip everywhere, the others if it has them. */
export async function* decompress(
  compression: Compression,
  open: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const format = compression === 'br' ? 'brotli' : compression;
  const inflate = openInflater(format);
  const stop = new AbortController();
  const writer = inflate.writable.getWriter();
  const feed = async (): Promise<void> => {
    for await (const chunk of open(stop.signal)) await writer.write(chunk as Uint8Array<ArrayBuffer>);
    await writer.close();
  };
  const feeding = feed().catch((error: unknown) => writer.abort(error).catch(() => undefined));
  const reader = inflate.readable.getReader();
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
  } finally {
    stop.abort();
    await reader.cancel().catch(() => undefined);
    await feeding;
  }
}

/** Whether decompressing failed because the bytes end too early, in the words of Chromium and Firefox. */
export const isCutOff = (error: unknown): boolean =>
  error instanceof TypeError && /truncated|without reaching the stream end/i.test(error.message);

function openInflater(format: string): DecompressionStream {
  try {
    return new DecompressionStream(format as ConstructorParameters<typeof DecompressionStream>[0]);
  } catch (cause) {
    const message = `Cannot decompress ${format}: this browser does not have it.`;
    throw new TableError('unsupported_file', message, { cause });
  }
}

/** The CRC-32 of ISO 3309. */
export function crc32(bytes: Uint8Array): number {
  const table = Int32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    return crc;
  });
  let crc = -1;
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}

export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/**
 * Decompresses pages of one codec of Parquet. Undefined for codecs that need more than JavaScript and `gzip`, which
 * every browser has: WebAssembly would need a page's leave (`wasm-unsafe-eval`, Content Security Policy level 3), and
 * nothing bounds the memory of a browser's own streams of other formats.
 */
export function loadPageCodec(codec: string): Inflate | undefined {
  return codec === 'GZIP' ? inflateGzip : undefined;
}

/** What a browser inflates before it waits for the reader: a thousand times as much at most. */
const PIECE_BYTES = 4096;

async function inflateGzip(input: Uint8Array, outputLength: number): Promise<Uint8Array> {
  const output = new Uint8Array(outputLength);
  let length = 0;
  for await (const chunk of decompress('gzip', () => piecesOf(input))) {
    if (length + chunk.length > outputLength) throw new RangeError('gzip page is too long');
    output.set(chunk, length);
    length += chunk.length;
  }
  return output.subarray(0, length);
}

async function* piecesOf(input: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < input.length; at += PIECE_BYTES) yield input.subarray(at, at + PIECE_BYTES);
}
