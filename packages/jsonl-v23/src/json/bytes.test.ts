import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
import { compareUtf8, validUtf8Length } from './bytes.ts';

describe('validUtf8Length', () => {
  it.each<[string, number[], number]>([
    ['nothing', [], 0],
    ['ASCII', [0x00, 0x7f], 2],
    ['characters of 2, 3 and 4 bytes', [0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80], 9],
    ['the last code point', [0xf4, 0x8f, 0xbf, 0xbf], 4],
    ['a lone continuation byte', [0x61, 0x80], 1],
    ['a byte that never occurs in UTF-8', [0x61, 0x62, 0xff], 2],
    ['an overlong form of 2 bytes', [0xc0, 0xaf], 0],
    ['an overlong form of 3 bytes', [0xe0, 0x9f, 0xbf], 0],
    ['an overlong form of 4 bytes', [0xf0, 0x8f, 0xbf, 0xbf], 0],
    ['a surrogate', [0x61, 0xed, 0xa0, 0x80], 1],
    ['beyond U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 0],
    ['a character that is cut off', [0x61, 0xe2, 0x82], 1],
    ['a character that another one interrupts', [0xe2, 0x82, 0x61], 0],
  ])('of %s', (_, bytes, length) => {
    expect(validUtf8Length(Uint8Array.from(bytes))).toBe(length);
  });

  it('is the whole length exactly if a decoder accepts the bytes', () => {
    const byte = fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0xe0, 0xed, 0xf0, 0xf4, 0x80, 0x9f, 0xa0, 0xbf),
    );
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 8 }), (list) => {
        const bytes = Uint8Array.from(list);
        const accepts = (part: Uint8Array): boolean => {
          try {
            new TextDecoder('utf-8', { fatal: true }).decode(part);
            return true;
          } catch {
            return false;
          }
        };
        const length = validUtf8Length(bytes);
        expect(accepts(bytes)).toBe(length === bytes.length);
        expect(accepts(bytes.subarray(0, length))).toBe(true);
      }),
      { numRuns: times(2000, 400) },
    );
  });
});

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
