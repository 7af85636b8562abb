import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../../tools/vitest/long.ts';
import { anyText, jsonValue, spellDifferently, thrownBy } from '../../../test/arbitrary-json.ts';
import { ExactNumber, type JsonValue } from '../json-value.ts';
import { parseJson } from '../parse-json.ts';
import { canonicalJson } from './canonical-json.ts';

describe('canonicalJson', () => {
  // RFC 8785, appendix B: the bits of a double and its text.
  it.each([
    ['0000000000000000', '0'],
    ['8000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ])('writes the double %s as %s', (bits, text) => {
    const number = new DataView(Uint8Array.from(Buffer.from(bits, 'hex')).buffer).getFloat64(0);
    expect(canonicalJson(number)).toBe(text);
  });

  it('writes integers of all lengths and signs, at and beyond 32 bits, as ECMAScript does', () => {
    const edges = [0, 1, 9, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1];
    const tens = Array.from({ length: 16 }, (_, power) => [10 ** power - 1, 10 ** power, 10 ** power + 1]);
    const integers = [...edges, ...tens.flat()].flatMap((value) => [value, -value, -value - 1]);
    expect(canonicalJson(integers)).toBe(`[${integers.map(String).join(',')}]`);
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(canonicalJson(value)).toBe(String(value));
      }),
    );
  });

  it('writes numbers of a few decimals as ECMAScript does', () => {
    const numbers = [0.5, 0.05, 0.001, 0.0005, 1.005, 0.1 + 0.2, 2 ** 31 - 0.001, 2 ** 31 + 0.5, 1e-7, 4.35];
    const decimal = fc
      .tuple(fc.integer({ min: -(2 ** 42), max: 2 ** 42 }), fc.nat(5))
      .map(([digits, decimals]) => digits / 10 ** decimals);
    const check = (value: number): void => {
      for (const near of [value, value * (1 - Number.EPSILON), -value]) {
        expect(canonicalJson([near])).toBe(JSON.stringify([near]));
      }
    };
    numbers.forEach(check);
    fc.assert(fc.property(fc.oneof(decimal, fc.double({ noNaN: true, noDefaultInfinity: true })), check), {
      numRuns: times(1000, 200),
    });
  });

  // RFC 8785, appendix B: numbers that JSON cannot hold; and other values that are not JSON.
  it.each([
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    undefined,
    () => 1,
    Symbol.iterator,
  ])('refuses %s', (value) => {
    expect(thrownBy(() => canonicalJson({ a: [value as never] }))).toMatchObject({ code: 'invalid_json' });
  });

  it('writes the sample of RFC 8785 section 3.2.2, but for the number that a double would round', () => {
    const text = `{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\"\\/",
      "literals": [null, true, false]
    }`;
    expect(canonicalJson(parseJson(text))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.33333329,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it('sorts as RFC 8785 section 3.2.3 does: by UTF-16 code units', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      1: 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    };
    expect(Object.values(JSON.parse(canonicalJson(value)))).toHaveLength(7);
    expect([...canonicalJson(value).matchAll(/:"([^"]+)"/g)].map(([, name]) => name)).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it.each<[string, JsonValue | bigint, string]>([
    ['an empty object', {}, '{}'],
    ['an empty array', [], '[]'],
    ['keys that look like numbers, as text', { 10: 0, 9: 0, '-1': 0, a: 0 }, '{"-1":0,"10":0,"9":0,"a":0}'],
    ['the empty key first', { a: 1, '': 2 }, '{"":2,"a":1}'],
    ['short escapes', '\b\t\n\f\r"\\/', '"\\b\\t\\n\\f\\r\\"\\\\/"'],
    ['control characters', '\0\u0001\u000b\u001f\u007f\u0080', '"\\u0000\\u0001\\u000b\\u001f\u007f\u0080"'],
    ['separators of lines', '\u2028\u2029\ufeff', '"\u2028\u2029\ufeff"'],
    ['characters of 1 to 4 bytes', 'aé€😀', '"aé€😀"'],
    ['a lone high surrogate', '\ud800x', '"\\ud800x"'],
    ['a lone low surrogate', 'x\udfff', '"x\\udfff"'],
    ['surrogates in the wrong order', '\ude00\ud83d', '"\\ude00\\ud83d"'],
    ['a high surrogate before a pair', '\ud83d\ud83d\ude00', '"\\ud83d😀"'],
    ['a key that needs escapes', { '"\n\ud800': 1 }, '{"\\"\\n\\ud800":1}'],
    ['a negative zero', -0, '0'],
    ['an exact number', [new ExactNumber('12345678901234567890')], '[12345678901234567890]'],
    ['a bigint', 12345678901234567890n, '12345678901234567890'],
    ['a bigint that a double holds', 10n ** 21n, '1e+21'],
  ])('writes %s', (_, value, text) => {
    expect(canonicalJson(value)).toBe(text);
  });

  it('writes a bigint at any position', () => {
    expect(canonicalJson({ a: [9007199254740993n as never] })).toBe('{"a":[9007199254740993]}');
  });

  it('writes a string longer than its steps without splitting surrogate pairs', () => {
    for (const length of [40, 47, 48, 49, 2 ** 20 - 2, 2 ** 20 - 1, 2 ** 20, 2 ** 20 + 1, 2 ** 21]) {
      for (const text of [
        `${'x'.repeat(length)}😀\ud800${'é'.repeat(length)}`,
        'x'.repeat(length),
        `${'x'.repeat(length)}"`,
      ]) {
        expect(canonicalJson([text])).toBe(JSON.stringify([text]));
      }
      const ends = ['\ud83d', '😀', '\n', '\u007f'].map((end) => 'y'.repeat(length - end.length) + end);
      expect(canonicalJson(ends)).toBe(JSON.stringify(ends));
    }
  });

  it('writes a long string again', () => {
    const texts = ['a', 'b', 'é'].map((letter) => letter.repeat(100_000));
    const value = [...texts, texts[1] as string, { [texts[0] as string]: texts[2] as string }];
    expect(canonicalJson(value)).toBe(JSON.stringify(value));
  });

  it('writes members of one shape that come in any order and number', () => {
    const objects = [
      { b: 1, a: { d: 1, c: 2 } },
      { a: { c: 1, d: 2 }, b: 3 },
      { b: 4 },
      { a: {}, b: 5, c: 6 },
    ];
    for (let round = 0; round < 3; round++) {
      expect(canonicalJson([...objects, ...objects])).toBe(
        `[${Array(2).fill('{"a":{"c":2,"d":1},"b":1},{"a":{"c":1,"d":2},"b":3},{"b":4},{"a":{},"b":5,"c":6}').join(',')}]`,
      );
    }
  });

  it('sorts few keys and many, given in any order', () => {
    for (const count of [2, 5, 16, 17, 100]) {
      const keys = Array.from(
        { length: count },
        (_, index) => `${String.fromCharCode(97 + (index % 7))}${index}`,
      );
      for (const given of [keys, keys.toReversed(), keys.toSorted()]) {
        const object = Object.fromEntries(given.map((key) => [key, 1]));
        expect(canonicalJson(object)).toBe(plainly(object));
      }
    }
  });

  it('can be called from a getter of the value', () => {
    const value = {
      get b(): string {
        return canonicalJson({ inner: true });
      },
      a: 1,
    };
    expect(canonicalJson(value)).toBe('{"a":1,"b":"{\\"inner\\":true}"}');
  });

  it('refuses 1,025 levels, and works afterwards', () => {
    const nested = (depth: number): JsonValue => {
      let value: JsonValue = [];
      for (let level = 1; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
      return value;
    };
    expect(canonicalJson(nested(1024)).length).toBeGreaterThan(1024);
    for (const depth of [1025, 100_000]) {
      expect(thrownBy(() => canonicalJson(nested(depth)))).toMatchObject({ code: 'nesting_too_deep' });
    }
    expect(canonicalJson(1)).toBe('1');
  });

  it('is the same for a value read from its own text', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(parseJson(text))).toBe(text);
      }),
    );
  });

  it('does not depend on order, white space and escapes', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        expect(canonicalJson(parseJson(spellDifferently(value)))).toBe(canonicalJson(value));
      }),
    );
  });

  it('gives the same as a straightforward implementation of the standard', () => {
    fc.assert(
      fc.property(jsonValue, anyText, (value, text) => {
        expect(canonicalJson(value)).toBe(plainly(value));
        expect(canonicalJson(text)).toBe(JSON.stringify(text));
      }),
    );
  });
});

function plainly(value: JsonValue): string {
  if (value instanceof ExactNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(plainly).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).toSorted(([left], [right]) => compareUnits(left, right));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${plainly(member)}`).join(',')}}`;
}

function compareUnits(left: string, right: string): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = left.charCodeAt(index) - right.charCodeAt(index);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
