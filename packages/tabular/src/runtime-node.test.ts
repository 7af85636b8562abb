import { randomBytes } from 'node:crypto';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Compression, decompress, isCutOff, loadPageCodec } from './runtime-node.ts';

const text = 'a line of text\n'.repeat(50_000);
const bytes = new TextEncoder().encode(text);

async function* pieces(whole: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

async function inflated(compression: Compression, source: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let out = '';
  for await (const chunk of decompress(compression, () => source))
    out += decoder.decode(chunk, { stream: true });
  return out;
}

const compressors = { gzip: gzipSync, zstd: zstdCompressSync, br: brotliCompressSync } as const;

describe.each(['gzip', 'zstd', 'br'] as const)('decompress %s', (compression) => {
  const whole = compressors[compression](bytes);

  it.each([1, 7, 1000, 1 << 20])('in pieces of %d bytes', async (size) => {
    expect(await inflated(compression, pieces(whole, size))).toBe(text);
  });

  it('refuses a truncated stream and what is not one', async () => {
    await expect(inflated(compression, pieces(whole.subarray(0, whole.length - 9), 10))).rejects.toThrow();
    await expect(inflated(compression, pieces(new TextEncoder().encode('plain text'), 3))).rejects.toThrow();
  });

  it('passes an error of the source on', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield whole.subarray(0, 20);
      throw new Error('cut');
    }
    await expect(inflated(compression, broken())).rejects.toThrow('cut');
  });

  it('ends the source when the consumer leaves', async () => {
    let ended = false;
    const open = async function* (signal: AbortSignal): AsyncGenerator<Uint8Array> {
      try {
        yield whole;
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      } finally {
        ended = true;
      }
    };
    for await (const chunk of decompress(compression, open)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(ended).toBe(true);
  });
});

it.each(['gzip', 'zstd'] as const)(
  '%s members and frames that follow each other are one stream',
  async (compression) => {
    const compress = compressors[compression];
    const joined = Buffer.concat([compress('one '), compress('two '), compress('three')]);
    for (const size of [1, 5, 1000])
      expect(await inflated(compression, pieces(joined, size))).toBe('one two three');
  },
);

it('leaves out zeros between and behind gzip members, and refuses other bytes there', async () => {
  const [one, two] = [gzipSync('one '), gzipSync('two')];
  const zeros = Buffer.alloc(700);
  for (const size of [1, 5, 64, 1 << 20]) {
    const padded = Buffer.concat([one, zeros, two, zeros]);
    expect(await inflated('gzip', pieces(padded, size))).toBe('one two');
    const garbage = Buffer.concat([one, zeros, Buffer.from('garbage')]);
    await expect(inflated('gzip', pieces(garbage, size))).rejects.toThrow();
  }
});

it.each([
  ['zstd', 'of a blank', zstdCompressSync(' ')],
  ['zstd', 'without content', zstdCompressSync('')],
  ['gzip', 'with a zero behind', Buffer.concat([gzipSync(''), Buffer.alloc(1)])],
] as const)('stops at many small %s parts %s, and reads some', async (compression, _, part) => {
  const compress = compressors[compression];
  const some = Buffer.concat([...Array<Buffer>(100).fill(part), compress('end')]);
  expect(await inflated(compression, pieces(some, 1 << 16))).toMatch(/end$/);
  let readBytes = 0;
  const source = async function* (): AsyncGenerator<Uint8Array> {
    const piece = Buffer.concat(Array<Buffer>(100).fill(part));
    for (let index = 0; index < 1000; index += 1) {
      readBytes += piece.length;
      yield piece;
    }
  };
  const error = { code: 'unsupported_file', message: expect.stringContaining('compress it as a whole') };
  await expect(inflated(compression, source())).rejects.toMatchObject(error);
  // Each part costs an engine.
  expect(readBytes / part.length).toBeLessThan(1200);
});

it('reads any number of zstd frames that are worth an engine each', async () => {
  const frame = zstdCompressSync(Buffer.from(randomBytes(1200)));
  let length = 0;
  const source = pieces(Buffer.concat(Array<Buffer>(1500).fill(frame)), 1 << 16);
  for await (const chunk of decompress('zstd', () => source)) length += chunk.length;
  expect(length).toBe(1500 * 1200);
});

it.each(['gzip', 'zstd'] as const)('tells %s that is cut off from what is none', async (compression) => {
  const whole = compressors[compression](bytes);
  for (const end of [5, 20, whole.length - 9, whole.length - 1]) {
    const error: unknown = await inflated(compression, pieces(whole.subarray(0, end), 10)).catch((e) => e);
    expect([end, isCutOff(error)]).toEqual([end, true]);
  }
  const other: unknown = await inflated(compression, pieces(new Uint8Array(50).fill(9), 10)).catch((e) => e);
  expect(isCutOff(other)).toBe(false);
});

it.each([
  ['GZIP', gzipSync],
  ['ZSTD', zstdCompressSync],
  ['BROTLI', brotliCompressSync],
] as const)('page codec %s does not inflate beyond the declared length', async (codec, compress) => {
  const inflate = await loadPageCodec(codec);
  expect(inflate?.(compress(bytes), bytes.length)).toHaveLength(bytes.length);
  expect(() => inflate?.(compress(bytes), 100)).toThrow();
});
