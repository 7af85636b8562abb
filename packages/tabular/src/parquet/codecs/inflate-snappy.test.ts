import fc from 'fast-check';
import { snappyCompress } from 'hysnappy';
import { expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { inflateSnappyBlock } from './inflate-block.ts';
import { createSnappyInflater } from './inflate-snappy.ts';

const LITERAL_OF_4 = [3 << 2, 65, 66, 67, 68];

/** Leaves bytes of another file behind, in the memory that the next block is inflated in. */
function used(): ReturnType<typeof createSnappyInflater> {
  const inflate = createSnappyInflater();
  inflate(snappyCompress(new Uint8Array(4096).fill(83)), 4096);
  return inflate;
}

it('restores what was compressed', () => {
  const inflate = createSnappyInflater();
  const part = fc.tuple(fc.uint8Array({ maxLength: 70 }), fc.integer({ min: 1, max: 300 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const bytes = Buffer.concat(parts.flatMap(([piece, times]) => Array<Uint8Array>(times).fill(piece)));
      expect(Buffer.compare(inflate(snappyCompress(bytes), bytes.length), bytes)).toBe(0);
    }),
  );
});

it('restores more than the memory that is kept', () => {
  const bytes = new Uint8Array(20 * 1024 * 1024).map((_, index) => index % 251);
  const inflate = createSnappyInflater();
  for (let time = 0; time < 2; time += 1)
    expect(Buffer.compare(inflate(snappyCompress(bytes), bytes.length), bytes)).toBe(0);
});

it.each<[string, number[], number]>([
  ['no bytes', [], 4],
  ['a length that does not end', [0xff, 0xff, 0xff, 0xff, 0xff, 0x01], 4],
  ['a length and nothing else', [100], 100],
  ['less than its length', [100, ...LITERAL_OF_4], 100],
  ['less than its page', [4, ...LITERAL_OF_4], 100],
  ['more than its page', [4, ...LITERAL_OF_4], 3],
  ['more than its length', [3, ...LITERAL_OF_4], 3],
  ['a literal that is cut off', [100, 61 << 2, 99, 0, 65], 100],
  ['a copy from before the beginning', [20, ...LITERAL_OF_4, (15 << 2) | 2, 100, 0], 20],
  ['a copy from nowhere', [20, ...LITERAL_OF_4, (15 << 2) | 2, 0, 0], 20],
])('refuses %s', (_name, block, length) => {
  expect(() => used()(Uint8Array.from(block), length)).toThrow();
  expect(() => inflateSnappyBlock(Uint8Array.from(block), length)).toThrow(RangeError);
});

it('shows nothing of the block before, whatever a block holds', () => {
  const inflate = used();
  const random = fc.tuple(fc.uint8Array({ maxLength: 60 }), fc.integer({ min: 0, max: 200 }));
  fc.assert(
    fc.property(random, ([block, length]) => {
      fc.pre(!block.includes(83));
      let inflated: Uint8Array;
      try {
        inflated = inflate(Uint8Array.of(length & 127, ...block), length & 127);
      } catch {
        return;
      }
      expect(inflated).not.toContain(83);
    }),
    { numRuns: times(20_000, 4000) },
  );
});
