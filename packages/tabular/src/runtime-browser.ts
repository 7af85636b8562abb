/** Encodings that a body or a file may have. */
export type Compression = 'gzip' | 'zstd' | 'br';

/** Decompresses a stream with what the browser knows: gzip everywhere, the others where it has them. */
export async function* decompress(
  compression: Compression,
  open: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const format = compression === 'br' ? 'brotli' : compression;
  const inflate = new DecompressionStream(format as ConstructorParameters<typeof DecompressionStream>[0]);
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

/** Lets whatever waits have its turn. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

type Inflate = (input: Uint8Array, outputLength: number) => Uint8Array | Promise<Uint8Array>;

/** Codecs of Parquet pages. */
export type PageCodecs = Readonly<Partial<Record<'GZIP' | 'BROTLI' | 'ZSTD' | 'SNAPPY', Inflate>>>;

/**
 * Only what is written in JavaScript: WebAssembly would need a page's leave (`wasm-unsafe-eval`, Content Security Policy
 * level 3).
 */
export const createPageCodecs = (): PageCodecs => ({});
