import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../../../tools/vitest/long.ts';
import { inflateZstd } from './inflate-zstd.ts';

function compress(bytes: Uint8Array, level = 3, checksum = false): Uint8Array {
  const params = {
    [constants.ZSTD_c_compressionLevel]: level,
    [constants.ZSTD_c_checksumFlag]: checksum ? 1 : 0,
  };
  return zstdCompressSync(bytes, { params });
}

/** A text of words, some of which repeat from afar. */
function words(length: number, seed: number): Uint8Array {
  let state = seed;
  const next = (max: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * max);
  };
  const parts: string[] = [];
  for (let size = 0; size < length; ) {
    const word = next(5) === 0 ? `w${next(50)}` : String.fromCharCode(97 + next(26)).repeat(1 + next(9));
    parts.push(word);
    size += word.length + 1;
  }
  return Buffer.from(parts.join(' '));
}

describe.each([-5, 1, 3, 9, 19])('inflateZstd at level %i', (level) => {
  it.each([
    ['nothing', new Uint8Array()],
    ['a byte', Uint8Array.of(7)],
    ['one byte many times', new Uint8Array(300_000).fill(65)],
    ['every byte', Uint8Array.from({ length: 1024 }, (_, at) => at & 255)],
    ['words', words(500_000, 1)],
    ['numbers', new Uint8Array(Int32Array.from({ length: 80_000 }, (_, at) => at * at).buffer)],
    [
      'noise',
      Uint8Array.from(words(200_000, 3), (byte, at) => (byte * 31 + Math.imul(at, 2654435761)) >>> 7),
    ],
  ])('restores %s', (_name, bytes) => {
    for (const checksum of [false, true]) {
      expect(Buffer.compare(inflateZstd(compress(bytes, level, checksum), bytes.length), bytes)).toBe(0);
    }
  });

  it('restores what was compressed', () => {
    const part = fc.tuple(fc.uint8Array({ maxLength: 70 }), fc.integer({ min: 1, max: 3000 }));
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const bytes = Buffer.concat(parts.flatMap(([piece, times]) => Array<Uint8Array>(times).fill(piece)));
        expect(Buffer.compare(inflateZstd(compress(bytes, level), bytes.length), bytes)).toBe(0);
      }),
      { numRuns: 40 },
    );
  });
});

it('joins frames, and passes over those that hold no data', () => {
  const skipped = Uint8Array.of(0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
  const joined = Buffer.concat([compress(words(5000, 5)), skipped, compress(words(7000, 6))]);
  const expected = Buffer.concat([words(5000, 5), words(7000, 6)]);
  expect(Buffer.compare(inflateZstd(joined, expected.length), expected)).toBe(0);
});

it.each([
  ['less than its length', -1],
  ['more than its length', 1],
])('refuses %s', (_name, more) => {
  const bytes = words(3000, 7);
  expect(() => inflateZstd(compress(bytes), bytes.length + more)).toThrow(RangeError);
});

it('refuses damaged frames, or gives the same bytes as zlib', () => {
  const bytes = words(4000, 9);
  const sources = [-5, 3, 19].map((level) => compress(bytes, level, true));
  let refused = 0;
  fc.assert(
    fc.property(
      fc.nat(2),
      fc.array(fc.tuple(fc.nat(4000), fc.nat(255)), { minLength: 1, maxLength: 3 }),
      (source, flips) => {
        const damaged = Uint8Array.from(sources[source]!);
        for (const [at, value] of flips) damaged[at % damaged.length] = value;
        let expected: Uint8Array | null = null;
        try {
          expected = zstdDecompressSync(damaged, { maxOutputLength: 100_000 });
        } catch {
          refused += 1;
        }
        let found: Uint8Array;
        try {
          found = inflateZstd(damaged, expected?.length ?? bytes.length);
        } catch (error) {
          // zlib takes some damage for other data, such as bytes after a frame, or a code with bits left over.
          expect(error).toBeInstanceOf(RangeError);
          return;
        }
        if (expected !== null) expect(Buffer.compare(found, expected)).toBe(0);
      },
    ),
    { numRuns: times(3000, 600) },
  );
  expect(refused).toBeGreaterThan(times(1000, 200));
});

it('takes a time that its input and output bound, whatever sequences say', () => {
  // Each sequence repeats 131,074 bytes and takes no bits; a block has at most 131,072 bytes.
  const literals = [0];
  const sequences = [255, 255, 255, 0b01010100, 0, 0, 52, 1];
  const block = [...literals, ...sequences];
  const header = (block.length << 3) | 4;
  const blocks = Array.from({ length: 20_000 }, () => [header & 255, header >> 8, 0, ...block]).flat();
  const input = Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58, ...blocks]);
  expect(() => inflateZstd(input, 1 << 20)).toThrow(RangeError);
});
