import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeRuns, type Run, varint } from '../../../test/encode-runs.ts';
import { ParquetError } from '../parquet-error.ts';
import { HybridReader } from './rle-hybrid.ts';

describe('HybridReader', () => {
  const cases = fc.integer({ min: 1, max: 31 }).chain((width) => {
    const value = fc.integer({ min: 0, max: 2 ** width - 1 });
    const run: fc.Arbitrary<Run> = fc.oneof(
      fc.record({ repeat: fc.integer({ min: 1, max: 300 }), value }),
      fc
        .array(value, { minLength: 1, maxLength: 5 })
        .map((eighth) => ({ packed: Array(8).fill(eighth).flat() as number[] })),
    );
    return fc.tuple(fc.constant(width), fc.array(run, { minLength: 1, maxLength: 6 }));
  });

  it('reads what the definition of the format gives', () => {
    fc.assert(
      fc.property(cases, ([width, runs]) => {
        const values = runs.flatMap((run) =>
          'packed' in run ? run.packed : Array(run.repeat).fill(run.value),
        );
        const output = new Int32Array(values.length);
        new HybridReader(encodeRuns(runs, width), width).read(output);
        expect(Array.from(output)).toEqual(values);
        // In pieces of any size the same comes.
        const reader = new HybridReader(encodeRuns(runs, width), width);
        const pieces: number[] = [];
        for (let size = 1; pieces.length < values.length; size = (size * 7) % 11) {
          const piece = new Int32Array(Math.min(size, values.length - pieces.length));
          reader.read(piece);
          pieces.push(...piece);
        }
        expect(pieces).toEqual(values);
      }),
    );
  });

  it('values of 32 bits and of none', () => {
    const wide = new Int32Array(8);
    new HybridReader(encodeRuns([{ packed: [1, 2 ** 32 - 1, 2 ** 31, 0, 5, 6, 7, 8] }], 32), 32).read(wide);
    expect(Array.from(wide, (value) => value >>> 0)).toEqual([1, 2 ** 32 - 1, 2 ** 31, 0, 5, 6, 7, 8]);
    const none = Int32Array.of(9, 9);
    new HybridReader(new Uint8Array(), 0).read(none);
    expect(Array.from(none)).toEqual([0, 0]);
  });

  it('takes no more than there is room for, whatever a run claims', () => {
    const output = new Uint8Array(10);
    new HybridReader(Uint8Array.from([...varint(2 ** 32 - 2), 1]), 1).read(output);
    expect(Array.from(output)).toEqual(Array(10).fill(1));
  });

  it.each([
    ['nothing', [], 1],
    ['a header alone', [2], 1],
    ['bits that are missing', [3], 3],
    ['a header that does not end', [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 1],
    ['runs of nothing', [0, 0, 0, 0], 1],
    ['a width beyond 32', [2, 0, 0, 0, 0, 0], 33],
  ])('refuses %s', (_name, bytes, width) => {
    expect(() => new HybridReader(Uint8Array.from(bytes), width).read(new Int32Array(16))).toThrow(
      ParquetError,
    );
  });
});
