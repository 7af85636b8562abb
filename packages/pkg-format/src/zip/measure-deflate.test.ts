import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { measureDeflate } from './measure-deflate.ts';

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
  .map((parts) => new Uint8Array(Buffer.concat(parts)));

const packing = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(
    constants.Z_DEFAULT_STRATEGY,
    constants.Z_FIXED,
    constants.Z_HUFFMAN_ONLY,
    constants.Z_RLE,
  ),
});

describe('measureDeflate', () => {
  it('counts what zlib gives', () => {
    fc.assert(
      fc.property(content, packing, (bytes, options) => {
        const packed = deflateRawSync(bytes, options);
        expect(measureDeflate(packed, bytes.length)).toEqual({
          outcome: 'complete',
          producedBytes: bytes.length,
          consumedBytes: packed.length,
        });
      }),
    );
  });

  it('does not use bytes after the end', () => {
    fc.assert(
      fc.property(content, packing, fc.uint8Array({ minLength: 1 }), (bytes, options, more) => {
        const packed = deflateRawSync(bytes, options);
        const measure = measureDeflate(Buffer.concat([packed, more]), bytes.length);
        expect(measure).toMatchObject({ outcome: 'complete', consumedBytes: packed.length });
      }),
    );
  });

  it('stops where more comes out than asked for', () => {
    const packed = deflateRawSync(new Uint8Array(10_000_000));
    expect(measureDeflate(packed, 9_999_999).outcome).toBe('stopped');
    expect(measureDeflate(packed, 10).producedBytes).toBeLessThan(300);
  });

  it('finds every cut', () => {
    const packed = deflateRawSync('to be or not to be, that is the question; to be or not to be');
    for (let length = 0; length < packed.length; length++) {
      expect(measureDeflate(packed.subarray(0, length), 1000).outcome).toBe('broken');
    }
  });

  it('calls broken what zlib calls broken', () => {
    const damaged = fc.tuple(content, packing).chain(([bytes, options]) => {
      const packed = new Uint8Array(deflateRawSync(bytes, options));
      const flips = fc.array(fc.nat(packed.length * 8 - 1), { minLength: 1, maxLength: 3 });
      return flips.map((bits) => {
        const copy = packed.slice();
        for (const bit of bits) copy[bit >> 3]! ^= 1 << (bit & 7);
        return copy;
      });
    });
    fc.assert(
      fc.property(fc.oneof(damaged, fc.uint8Array({ maxLength: 200 })), (packed) => {
        const measure = measureDeflate(packed, 1 << 24);
        let inflated: Uint8Array | null = null;
        try {
          inflated = inflateRawSync(packed, { maxOutputLength: 1 << 24 });
        } catch {}
        if (inflated) expect(measure).toMatchObject({ outcome: 'complete', producedBytes: inflated.length });
        else expect(measure.outcome).not.toBe('complete');
      }),
      { numRuns: 2000 },
    );
  });
});
