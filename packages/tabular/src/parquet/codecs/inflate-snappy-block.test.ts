import fc from 'fast-check';
import { snappyCompress } from 'hysnappy';
import { expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { inflateSnappyBlock } from './inflate-block.ts';
import { createSnappyInflater } from './inflate-snappy.ts';

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

it('takes and refuses the blocks that WebAssembly does', () => {
  const other = createSnappyInflater();
  const outcome = (inflate: typeof inflateSnappyBlock, block: Uint8Array): string => {
    try {
      return Buffer.from(inflate(block, block[0]!)).toString('hex');
    } catch {
      return 'refused';
    }
  };
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 127 }), fc.uint8Array({ maxLength: 60 }), (length, rest) => {
      const block = Uint8Array.of(length, ...rest);
      expect(outcome(inflateSnappyBlock, block)).toBe(outcome(other, block));
    }),
    { numRuns: times(5000, 1000) },
  );
});
