import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as forNode from './native-node.ts';
import * as portable from './native-portable.ts';

describe.each([
  ['Node', forNode],
  ['other runtimes', portable],
])('base64 of %s', (_, { decodeBase64, encodeBase64, isBase64 }) => {
  // RFC 4648 section 10.
  it.each([
    ['', ''],
    ['f', 'Zg=='],
    ['fo', 'Zm8='],
    ['foo', 'Zm9v'],
    ['foob', 'Zm9vYg=='],
    ['fooba', 'Zm9vYmE='],
    ['foobar', 'Zm9vYmFy'],
  ])('of %j is %j', (text, base64) => {
    expect(encodeBase64(new TextEncoder().encode(text))).toBe(base64);
    expect(new TextDecoder().decode(decodeBase64(base64) as Uint8Array)).toBe(text);
    expect(isBase64(base64)).toBe(true);
  });

  it.each([
    'Z',
    'Zg',
    'Zg=',
    'Zg===',
    'Zh==',
    'Zm9=',
    '====',
    '=',
    'Zg==Zg==',
    'Zm9v\n',
    ' Zm9v',
    'Zm-_',
    'Zmé_',
    'Z=9v',
    '\ud800AAA',
  ])('refuses %j', (text) => {
    expect(isBase64(text)).toBe(false);
  });

  it.each([
    ['Z', null],
    ['Zg', 'f'],
    ['Zg=', null],
    ['Zh==', 'f'],
    ['Zm9v\r\n YmFy', 'foobar'],
    ['Zm-_', null],
    ['Zmé_', null],
    ['Zg==Zg==', null],
    ['====', null],
  ])('accepts white space and missing padding in %j', (text, expected) => {
    const bytes = decodeBase64(text);
    expect(bytes && new TextDecoder().decode(bytes)).toBe(expected);
  });

  it('agrees with Node, both ways', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = encodeBase64(bytes);
        expect(text).toBe(Buffer.from(bytes).toString('base64'));
        expect(decodeBase64(text)).toEqual(bytes);
        expect(isBase64(text)).toBe(true);
      }),
    );
  });

  it('isBase64 accepts exactly what encoding produces', () => {
    const letters = fc.constantFrom('A', 'B', 'g', 'Q', '/', '+', '=', '-', '\n');
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 9 }), (text) => {
        const base64 = text.join('');
        const bytes = decodeBase64(base64);
        expect(isBase64(base64)).toBe(bytes !== null && encodeBase64(bytes) === base64);
      }),
    );
  });

  it('isBase64 reads long texts to their end', () => {
    const pieces = ['A'.repeat(48 * 1024), 'AA==', 'AAA=', 'AAAA', 'AAB=', 'A', '-', '=', 'é'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 4 }), (parts) => {
        const text = parts.join('');
        expect(isBase64(text)).toBe(Buffer.from(text, 'base64').toString('base64') === text);
      }),
    );
  });
});
