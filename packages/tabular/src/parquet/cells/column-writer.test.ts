import { CellWriter } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Feature, valueFeature } from '../../schema/features.ts';
import { compileCell } from './cell.ts';
import { compileColumnWriter } from './column-writer.ts';
import type { CellValues } from './convert.ts';

function written(feature: Feature | undefined, cells: CellValues | undefined, count: number): string[] {
  const writer = new CellWriter();
  const write = compileColumnWriter(feature, writer)(cells);
  for (let row = 0; row < count; row += 1) write(row);
  const { bytes, ends } = writer.end();
  return Array.from(ends, (end, index) =>
    Buffer.from(bytes.subarray(index === 0 ? 0 : ends[index - 1], end)).toString(),
  );
}

const expected = (feature: Feature, cells: ArrayLike<unknown>): string[] =>
  Array.from(cells, compileCell(feature)).map((value) => canonicalJson(value));

it('writes numbers as the values that they are, with every digit', () => {
  const near = fc.constantFrom(0n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 1n, -(2n ** 63n));
  const int64 = fc.oneof(
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.tuple(near, fc.bigInt({ min: -2n, max: 2n })).map(([value, step]) => BigInt.asIntN(64, value + step)),
  );
  fc.assert(
    fc.property(fc.array(int64), fc.array(fc.double()), fc.array(fc.integer()), (bigs, doubles, ints) => {
      const columns: [string, ArrayLike<unknown> & CellValues][] = [
        ['int64', BigInt64Array.from(bigs).subarray(1)],
        ['uint64', BigUint64Array.from(bigs)],
        ['timestamp[ms]', BigInt64Array.from(bigs)],
        ['float64', Float64Array.from(doubles)],
        ['float32', Float32Array.from(doubles)],
        ['int32', Int32Array.from(ints)],
        ['uint32', Uint32Array.from(ints)],
        ['int64', [...bigs, null]],
      ];
      for (const [dtype, cells] of columns) {
        const feature = valueFeature(dtype);
        expect(written(feature, cells, cells.length)).toEqual(expected(feature, cells));
      }
    }),
  );
});

it('writes null for a column that the file lacks', () => {
  expect(written(undefined, undefined, 2)).toEqual(['null', 'null']);
  expect(written(valueFeature('int64'), undefined, 1)).toEqual(['null']);
});
