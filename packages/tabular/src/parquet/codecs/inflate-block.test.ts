import { describe, expect, it } from 'vitest';
import { inflateHadoopLz4, inflateLz4Block } from './inflate-block.ts';

const bytes = (...parts: Array<number | string>): Uint8Array =>
  Uint8Array.from(
    parts.flatMap((part) => (typeof part === 'number' ? [part] : [...new TextEncoder().encode(part)])),
  );
const text = (output: Uint8Array): string => new TextDecoder().decode(output);

const long = 'x'.repeat(300);
const framed = (inflated: number, block: Uint8Array): number[] => [
  0,
  0,
  0,
  inflated,
  0,
  0,
  0,
  block.length,
  ...block,
];

describe('inflateLz4Block', () => {
  it.each([
    ['literals only', bytes(0x30, 'abc'), 'abc'],
    ['nothing', bytes(0x00), ''],
    ['a copy', bytes(0x32, 'abc', 3, 0, 0x10, '!'), 'abcabcabc!'],
    [
      'an overlapping copy of one byte',
      bytes(0x1f, 'x', 1, 0, 255, 20, 0x50, 'abcde'),
      `${'x'.repeat(295)}abcde`,
    ],
    ['many literals', bytes(0xf0, 255, 30, long), long],
    ['a copy from afar', bytes(0x50, 'hello', 0x00).subarray(0, 6), 'hello'],
  ])('%s', (_name, block, expected) => {
    expect(text(inflateLz4Block(block, expected.length))).toBe(expected);
  });

  it.each([
    ['an offset of zero', bytes(0x10, 'a', 0, 0, 0x00), 5],
    ['an offset before the start', bytes(0x10, 'a', 2, 0, 0x00), 5],
    ['literals beyond the input', bytes(0x50, 'abc'), 5],
    ['more than declared', bytes(0x50, 'abcde'), 4],
    ['less than declared', bytes(0x50, 'abcde'), 6],
    ['an end inside a length', bytes(0xf0, 255), 300],
    ['an end inside an offset', bytes(0x10, 'a', 1), 5],
  ])('refuses %s', (_name, block, length) => {
    expect(() => inflateLz4Block(block, length)).toThrow(RangeError);
  });
});

describe('inflateHadoopLz4', () => {
  it('takes frames, and a bare block', () => {
    const one = bytes(0x50, 'hello');
    const two = bytes(0x60, ' world');
    expect(text(inflateHadoopLz4(Uint8Array.from([...framed(5, one), ...framed(6, two)]), 11))).toBe(
      'hello world',
    );
    expect(text(inflateHadoopLz4(one, 5))).toBe('hello');
    expect(text(inflateHadoopLz4(bytes(0x80, 'abcdefgh'), 8))).toBe('abcdefgh');
  });

  it('refuses what is neither', () => {
    expect(() => inflateHadoopLz4(Uint8Array.from([0, 0, 0, 5, 0, 0, 0, 99, 1, 2]), 5)).toThrow(RangeError);
  });
});
