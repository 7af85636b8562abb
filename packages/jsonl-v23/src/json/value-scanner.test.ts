import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { jsonValue, spellDifferently, thrownBy } from '../../test/arbitrary-json.ts';
import { skipValue, ValueScanner } from './value-scanner.ts';

describe('ValueScanner', () => {
  it('finds the end of any value, however the text is cut', () => {
    fc.assert(
      fc.property(jsonValue, fc.integer({ min: 1, max: 5 }), (value, size) => {
        const text = spellDifferently(value);
        const scanner = new ValueScanner();
        const document = `${text},"more"`;
        let end = -1;
        let start = 0;
        for (; end === -1; start += size) end = scanner.scan(document.slice(start, start + size), 0);
        expect(start - size + end).toBe(text.length);
        expect(scanner.isOpen).toBe(false);
      }),
      { numRuns: times(1000, 200) },
    );
  });

  it('takes many escapes in linear time', () => {
    const text = `"${'\\\\'.repeat(2_000_000)}\\"${'\\"'.repeat(2_000_000)}"`;
    expect(skipValue(text, 0)).toBe(text.length);
  });
});

describe('skipValue', () => {
  it.each([
    ['{"a":[1,2]}', 5, 10],
    ['{"a":1}', 5, 6],
    ['"\\\\"', 0, 4],
    ['12', 0, 2],
    ['[[]]]', 0, 4],
  ])('of %s from %i is %i', (text, start, end) => {
    expect(skipValue(text, start)).toBe(end);
  });

  it.each(['', '[', '"', '"\\"', '{"a":"}'])('refuses %j, which has no end', (text) => {
    expect(thrownBy(() => skipValue(text, 0))).toMatchObject({ code: 'invalid_json' });
  });
});
