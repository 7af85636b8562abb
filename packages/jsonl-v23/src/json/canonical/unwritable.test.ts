import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { thrownBy } from '../../../test/arbitrary-json.ts';
import { itemHash } from '../../hash/version-hash.ts';
import { encodeItem } from '../../item/encode-item.ts';
import type { JsonObject, JsonValue } from '../json-value.ts';
import { ExactNumber } from '../json-value.ts';
import { canonicalJson } from './canonical-json.ts';

class Point {
  readonly x = 1;
}

it.each([
  ['a Date', new Date(0), 'an instance of Date'],
  ['a Map', new Map([[1, 2]]), 'an instance of Map'],
  ['a Set', new Set([1]), 'an instance of Set'],
  ['an Error', new Error('x'), 'an instance of Error'],
  ['a RegExp', /x/, 'an instance of RegExp'],
  ['a typed array', Uint8Array.of(1), 'an instance of Uint8Array'],
  ['a boxed string', Object('x'), 'an instance of String'],
  ['an instance of a class', new Point(), 'an instance of Point'],
  ['undefined', undefined, 'a value of type undefined'],
  ['a function', () => 1, 'a value of type function'],
  ['NaN', Number.NaN, 'NaN'],
  ['infinity', Number.POSITIVE_INFINITY, 'Infinity'],
])('refuses %s with its JSON Pointer', (_, value, what) => {
  const item = { b: [1, { 'c/d': value }], a: 1 } as unknown as JsonObject;
  for (const write of [canonicalJson, encodeItem, itemHash] as const) {
    expect(thrownBy(() => write(item))).toMatchObject({
      code: 'invalid_json',
      message: `Cannot write ${what} as JSON`,
      location: { path: '/b/1/c~1d' },
    });
  }
});

it('takes plain objects of another realm and objects without a prototype', () => {
  const foreign = runInNewContext('({ b: [{}], a: 1 })') as JsonValue;
  expect(canonicalJson(foreign)).toBe('{"a":1,"b":[{}]}');
  expect(canonicalJson(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
});

it('takes an ExactNumber of another copy of the package', async () => {
  const copy = (await import(`../json-value.ts?${'copy'}`)) as typeof import('../json-value.ts');
  expect(copy.ExactNumber).not.toBe(ExactNumber);
  const number = copy.parseNumber('12345678901234567890');
  expect(number).toBeInstanceOf(ExactNumber);
  expect(canonicalJson({ n: number as JsonValue })).toBe('{"n":12345678901234567890}');
});
