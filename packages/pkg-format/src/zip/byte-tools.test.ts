import { randomBytes } from 'node:crypto';
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { collectBytes, type ZipEntry } from './byte-source.ts';
import * as nodeByteTools from './byte-tools-node.ts';
import * as webByteTools from './byte-tools-web.ts';

const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });

/** Text with repeats, noise and runs: all three kinds of block come out of it. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc
        .tuple(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.integer({ min: 1, max: 200 }))
        .map(([part, times]) => new Uint8Array(Buffer.concat(Array<Uint8Array>(times).fill(part)))),
    ),
    { maxLength: 12 },
  )
  .map((contents) => new Uint8Array(Buffer.concat(contents)));

const packing = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FIXED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
  ),
});

const chunkSize = fc.integer({ min: 1, max: 500 });

const entryOf = (packed: Uint8Array): ZipEntry => ({
  name: 'e',
  isDirectory: false,
  method: 'deflated',
  compressedSize: packed.byteLength,
  size: 0,
  crc32: 0,
  headerStart: 0,
  dataStart: 0,
});

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

const CORRUPT = { code: 'package_corrupt', entry: 'e' };

describe.each([
  ['web', webByteTools],
  ["Node's", nodeByteTools],
])('%s byte tools', (_, tools) => {
  const inflate = (packed: Uint8Array, size = 1000): Promise<Uint8Array> =>
    collectBytes(tools.inflateRaw(inChunks(packed, size), entryOf(packed)));

  it('make the CRC-32 of parts as of the whole', () => {
    fc.assert(
      fc.property(parts, (chunks) => {
        expect(chunks.reduce((crc, chunk) => tools.crc32(chunk, crc), 0)).toBe(crc32(Buffer.concat(chunks)));
      }),
    );
  });

  it('inflate what zlib deflates', async () => {
    await fc.assert(
      fc.asyncProperty(content, packing, chunkSize, async (bytes, options, size) => {
        const inflated = await inflate(deflateRawSync(bytes, options), size);
        expect(Buffer.compare(inflated, bytes)).toBe(0);
      }),
    );
  });

  it('refuse bytes after the end', async () => {
    await fc.assert(
      fc.asyncProperty(
        content,
        packing,
        fc.uint8Array({ minLength: 1 }),
        chunkSize,
        async (bytes, options, more, size) => {
          const packed = deflateRawSync(bytes, options);
          await expect(inflate(Buffer.concat([packed, more]), size)).rejects.toMatchObject(CORRUPT);
          // The end of the stream may be the end of a chunk.
          await expect(inflate(Buffer.concat([packed, more]), packed.length)).rejects.toMatchObject(CORRUPT);
        },
      ),
    );
  });

  it('refuse every cut', async () => {
    const packed = deflateRawSync('to be or not to be, that is the question; to be or not to be');
    for (let length = 0; length < packed.length; length++) {
      await expect(inflate(packed.subarray(0, length), 7)).rejects.toMatchObject(CORRUPT);
    }
  });

  it('refuse what zlib refuses', async () => {
    const damaged = fc.tuple(content, packing).chain(([bytes, options]) => {
      const packed = new Uint8Array(deflateRawSync(bytes, options));
      const flips = fc.array(fc.nat(packed.length * 8 - 1), { minLength: 1, maxLength: 3 });
      return flips.map((bits) => {
        const copy = packed.slice();
        for (const bit of bits) copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        return copy;
      });
    });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })),
        chunkSize,
        async (packed, size) => {
          let expected: Uint8Array | null = null;
          try {
            const { buffer, engine } = inflateRawSync(packed, { info: true }) as unknown as {
              buffer: Uint8Array;
              engine: { bytesWritten: number };
            };
            if (engine.bytesWritten === packed.length) expected = buffer;
          } catch {}
          if (expected) expect(Buffer.compare(await inflate(packed, size), expected)).toBe(0);
          else await expect(inflate(packed, size)).rejects.toMatchObject(CORRUPT);
        },
      ),
      { numRuns: times(800, 160) },
    );
  });

  it('pass on the errors of the source', async () => {
    const packed = deflateRawSync(new Uint8Array(1_000_000));
    const failure = new Error('no more');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield packed.subarray(0, 500);
      throw failure;
    }
    await expect(collectBytes(tools.inflateRaw(failing(), entryOf(packed)))).rejects.toBe(failure);
  });

  it('close the source when reading stops early', async () => {
    const packed = deflateRawSync(randomBytes(1_000_000));
    let isClosed = false;
    let chunks = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of inChunks(packed, 200)) {
          chunks += 1;
          yield chunk;
        }
      } finally {
        isClosed = true;
      }
    }
    for await (const _ of tools.inflateRaw(source(), entryOf(packed))) break;
    await expect.poll(() => isClosed).toBe(true);
    // Streams read ahead: two buffers of 64 KiB, of the megabyte.
    expect(chunks * 200).toBeLessThan(150_000);
  });
});
