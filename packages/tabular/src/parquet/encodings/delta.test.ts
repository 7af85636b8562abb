import { describe, expect, it } from 'vitest';
import { ByteCursor } from '../metadata/byte-cursor.ts';
import { ParquetError } from '../parquet-error.ts';
import { deltaByteArrayReader, deltaLengthReader, deltaReader } from './delta.ts';

function varint(value: bigint): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return [...bytes, Number(rest)];
}
const zigzag = (value: bigint): number[] => varint(value >= 0n ? value * 2n : -value * 2n - 1n);

/** Encodes in blocks of 128 in 4 miniblocks, with arithmetic that does not overflow. */
function encode(values: readonly bigint[]): number[] {
  const bytes = [
    ...varint(128n),
    ...varint(4n),
    ...varint(BigInt(values.length)),
    ...zigzag(values[0] ?? 0n),
  ];
  const deltas = values.slice(1).map((value, index) => BigInt.asIntN(64, value - values[index]!));
  for (let start = 0; start < deltas.length; start += 128) {
    const block = deltas.slice(start, start + 128);
    const min = block.toSorted((a, b) => (a < b ? -1 : 1))[0]!;
    bytes.push(...zigzag(min));
    const miniblocks = [0, 32, 64, 96].map((at) =>
      block.slice(at, at + 32).map((delta) => BigInt.asUintN(64, delta - min)),
    );
    const widths = miniblocks.map((rests) =>
      rests.reduce((most, rest) => Math.max(most, rest.toString(2).length * Number(rest > 0n)), 0),
    );
    bytes.push(...widths);
    for (const [index, rests] of miniblocks.entries()) {
      const width = widths[index]!;
      if (rests.length === 0) continue;
      let bits = 0n;
      for (const [at, rest] of rests.entries()) bits |= rest << BigInt(at * width);
      for (let at = 0; at < 4 * width; at += 1) bytes.push(Number((bits >> BigInt(8 * at)) & 0xffn));
    }
  }
  return bytes;
}

const cursor = (bytes: readonly number[]): ByteCursor => new ByteCursor(Uint8Array.from(bytes));

describe('DELTA_BINARY_PACKED', () => {
  const extremes = [
    0n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    -1n,
    1n,
    2n ** 62n,
    -(2n ** 62n),
    2n ** 32n,
    -(2n ** 32n),
  ];
  it.each([
    ['one value', [7n]],
    ['equal values', Array<bigint>(300).fill(-5n)],
    ['the widest differences', Array.from({ length: 400 }, (_, n) => extremes[(n * n) % extremes.length]!)],
    ['small ones', Array.from({ length: 1000 }, (_, n) => BigInt((n * 7919) % 1000) - 500n)],
  ])('INT64: %s', (_name, values) => {
    expect(
      Array.from(deltaReader(cursor(encode(values)), 'INT64').next(values.length) as BigInt64Array),
    ).toEqual(values);
    const reader = deltaReader(cursor(encode(values)), 'INT64');
    const pieces: bigint[] = [];
    for (let size = 1; pieces.length < values.length; size = (size * 5) % 37) {
      pieces.push(...(reader.next(Math.min(size, values.length - pieces.length)) as BigInt64Array));
    }
    expect(pieces).toEqual(values);
  });

  it('INT32 that hold unsigned numbers from 2^31 up, as some writers put them', () => {
    const values = Array.from({ length: 6 }, (_, n) => 4_294_967_295n - BigInt(n) * 500_000_000n);
    const read = deltaReader(cursor(encode(values)), 'INT32').next(6) as Int32Array;
    expect(Array.from(new Uint32Array(read.buffer), BigInt)).toEqual(values);
  });

  it.each([
    ['nothing', []],
    ['no miniblocks', [...varint(128n), 0, 1, 0]],
    ['miniblocks of three values', [...varint(12n), 4, 1, 0]],
    ['a width of 65 bits', [...varint(128n), 4, 2, 0, 0, 65, 0, 0, 0, ...Array<number>(300).fill(0)]],
    ['values that are missing', encode([1n, 2n, 5n, 1000n]).slice(0, -60)],
    ['a number that does not end', Array<number>(20).fill(0xff)],
  ])('refuses %s', (_name, bytes) => {
    expect(() => deltaReader(cursor(bytes), 'INT64').next(4)).toThrow(ParquetError);
  });
});

describe('texts', () => {
  const text = (part: string): number[] => [...Buffer.from(part)];
  it('DELTA_LENGTH_BYTE_ARRAY comes in any pieces, and not beyond its end', () => {
    const bytes = [...encode([2n, 0n, 3n]), ...text('abcde')];
    const reader = deltaLengthReader(cursor(bytes), 3);
    expect(
      [1, 2].flatMap((count) => reader.next(count).map((part) => Buffer.from(part!).toString())),
    ).toEqual(['ab', '', 'cde']);
    expect(() => deltaLengthReader(cursor(bytes.slice(0, -1)), 3).next(3)).toThrow('longer than its page');
    expect(() => deltaLengthReader(cursor([...encode([-1n]), ...text('a')]), 1).next(1)).toThrow(
      'longer than its page',
    );
    expect(() => deltaLengthReader(cursor(bytes), 2)).toThrow('more lengths than values');
  });

  it('DELTA_BYTE_ARRAY shares what there is, and as much as is allowed', () => {
    const bytes = [...encode([0n, 2n, 1n]), ...encode([3n, 1n, 0n]), ...text('abcd')];
    const read = deltaByteArrayReader(cursor(bytes), 3, 100).next(3) as Uint8Array[];
    expect(read.map((part) => Buffer.from(part).toString())).toEqual(['abc', 'abd', 'a']);
    expect(() => deltaByteArrayReader(cursor(bytes), 3, 6).next(3)).toThrow('more than 6 bytes');
    const more = [...encode([0n, 4n]), ...encode([3n, 1n]), ...text('abcd')];
    expect(() => deltaByteArrayReader(cursor(more), 2, 100).next(2)).toThrow('shares more than there is');
  });
});
