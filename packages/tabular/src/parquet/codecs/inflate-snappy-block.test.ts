import fc from 'fast-check';
import { snappyCompress } from 'hysnappy';
import { expect, it } from 'vitest';
import { inflateSnappyBlock } from './inflate-block.ts';

const LITERAL_OF_4 = [3 << 2, 65, 66, 67, 68];

it('restores what was compressed', () => {
  const part = fc.tuple(fc.uint8Array({ maxLength: 70 }), fc.integer({ min: 1, max: 2000 }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
      const bytes = Buffer.concat(parts.flatMap(([piece, times]) => Array<Uint8Array>(times).fill(piece)));
      expect(Buffer.compare(inflateSnappyBlock(snappyCompress(bytes), bytes.length), bytes)).toBe(0);
    }),
    { numRuns: 50 },
  );
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
  expect(() => inflateSnappyBlock(Uint8Array.from(block), length)).toThrow(RangeError);
});
