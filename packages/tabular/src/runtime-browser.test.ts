import { gzipSync, crc32 as nodeCrc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { TableError } from './errors.ts';
import { crc32, decompress, isCutOff, loadPageCodec } from './runtime-browser.ts';

const text = 'a line of text\n'.repeat(50_000);

async function inflated(source: () => AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let out = '';
  for await (const chunk of decompress('gzip', source)) out += decoder.decode(chunk, { stream: true });
  return out;
}

async function* pieces(whole: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

it('inflates gzip, refuses what is none, passes errors on and ends its source', async () => {
  const packed = gzipSync(text);
  expect(await inflated(() => pieces(packed, 1000))).toBe(text);
  await expect(inflated(() => pieces(packed.subarray(0, 500), 100))).rejects.toThrow();
  await expect(inflated(() => pieces(new TextEncoder().encode('plain'), 2))).rejects.toThrow();
  await expect(
    inflated(async function* () {
      yield packed.subarray(0, 100);
      throw new Error('cut');
    }),
  ).rejects.toThrow('cut');

  let ended = false;
  const open = async function* (signal: AbortSignal): AsyncGenerator<Uint8Array> {
    try {
      yield packed;
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    } finally {
      ended = true;
    }
  };
  for await (const chunk of decompress('gzip', open)) {
    expect(chunk.length).toBeGreaterThan(0);
    break;
  }
  expect(ended).toBe(true);
});

it('knows the words in which browsers say that a stream is cut off', () => {
  expect(isCutOff(new TypeError('Compressed input was truncated.'))).toBe(true);
  expect(isCutOff(new TypeError('The input is ended without reaching the stream end'))).toBe(true);
  expect(isCutOff(new TypeError('The compressed data was not valid: incorrect header check.'))).toBe(false);
});

it.each(['', 'a', text])('computes the CRC-32 that zlib computes', (content) => {
  const bytes = new TextEncoder().encode(content);
  expect(crc32(bytes)).toBe(nodeCrc32(bytes));
});

it('inflates pages of GZIP to exactly the declared length', async () => {
  const bytes = new TextEncoder().encode(text);
  const inflate = await loadPageCodec('GZIP');
  expect(Buffer.compare((await inflate?.(gzipSync(bytes), bytes.length)) ?? bytes, bytes)).toBe(0);
  for (const length of [100, bytes.length - 1]) {
    await expect(async () => await inflate?.(gzipSync(bytes), length)).rejects.toThrow(RangeError);
  }
  await expect(async () => await inflate?.(gzipSync(bytes).subarray(0, 60), bytes.length)).rejects.toThrow();
});

it('holds little of a gzip page that is longer than it says', async () => {
  const inflate = await loadPageCodec('GZIP');
  const packed = gzipSync(Buffer.alloc(256 * 1024 * 1024));
  const before = process.memoryUsage().arrayBuffers;
  await expect(async () => await inflate?.(packed, 1000)).rejects.toThrow(RangeError);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
});

it('has no Brotli and no zstd, whose streams have no bound', () => {
  expect([loadPageCodec('BROTLI'), loadPageCodec('ZSTD')]).toEqual([undefined, undefined]);
});

it('says that a browser does not have a compression', async () => {
  const chunks = decompress('unknown' as 'gzip', () => pieces(new Uint8Array(9), 9));
  await expect(chunks.next()).rejects.toBeInstanceOf(TableError);
});
