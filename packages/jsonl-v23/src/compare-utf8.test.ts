import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareUtf8 } from './compare-utf8.ts';

describe('compareUtf8', () => {
  it('orders as the UTF-8 bytes do', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(compareUtf8(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  it('puts U+1F600 after U+FF5E', () => {
    expect(['\u{1f600}', '\uff5e'].sort(compareUtf8)).toEqual(['\uff5e', '\u{1f600}']);
  });
});
