import fc from 'fast-check';
import { expect, it } from 'vitest';
import { jsonValue, spellDifferently } from '../../test/arbitrary-json.ts';
import { jsonPointer } from '../source-location.ts';
import { canonicalJson } from './canonical/canonical-json.ts';
import { isJsonObject, type JsonValue } from './json-value.ts';
import { parseJson } from './parse-json.ts';
import { locateValue, skipValue } from './value-scanner.ts';

it.each([
  ['{"a":[1,"x"]}', '', 0],
  ['{"a":[1,"x"]}', '/a/1', 8],
  [' { "a" : { "b/c" : 1 , "~" : [ true ] } } ', '/a/~0/0', 31],
  [' { "a" : { "b/c" : 1 , "~" : [ true ] } } ', '/a/b~1c', 19],
  ['{"a":{"b":1}}', '/a/missing/deeper', 5],
  ['{"\\u0061":7}', '/a', 10],
  ['"text"', '/a', 0],
  ['[]', '/0', 0],
])('in %s, %s is at %i', (text, pointer, index) => {
  expect(locateValue(text, 0, pointer)).toBe(index);
});

/** All values in a value, with their pointers. */
function* valuesIn(value: JsonValue, path: readonly (string | number)[]): Generator<[string, JsonValue]> {
  yield [jsonPointer(path), value];
  if (Array.isArray(value)) {
    for (const [index, inner] of value.entries()) yield* valuesIn(inner, [...path, index]);
  } else if (isJsonObject(value)) {
    for (const [key, inner] of Object.entries(value)) yield* valuesIn(inner, [...path, key]);
  }
}

it('finds every value of any text', () => {
  fc.assert(
    fc.property(jsonValue, (value) => {
      const text = spellDifferently(value);
      for (const [pointer, inner] of valuesIn(value, [])) {
        const start = locateValue(text, 0, pointer);
        const found = parseJson(text.slice(start, skipValue(text, start)));
        expect(canonicalJson(found)).toBe(canonicalJson(inner));
      }
    }),
  );
});
