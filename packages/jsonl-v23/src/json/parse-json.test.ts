import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText, jsonValue, spellDifferently, thrownBy } from '../../test/arbitrary-json.ts';
import { JsonlError } from '../errors.ts';
import { ExactNumber, type JsonObject, type JsonValue } from './json-value.ts';
import { JsonReader, parseJson } from './parse-json.ts';

const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

describe('parseJson', () => {
  it.each<[string, JsonValue]>([
    ['null', null],
    ['true', true],
    [' \t\r\nfalse \t\r\n', false],
    ['0', 0],
    ['-0', 0],
    ['-0.0', 0],
    ['-12', -12],
    ['1.50', 1.5],
    ['1E3', 1000],
    ['123456789012345', 123456789012345],
    ['9007199254740992', 9007199254740992],
    ['0.30000000000000004', 0.30000000000000004],
    ['1e-7', 1e-7],
    ['""', ''],
    ['"a\\"b\\\\c\\/d\\b\\f\\n\\r\\t"', 'a"b\\c/d\b\f\n\r\t'],
    ['"\\u0000\\u20AC\\u20ac\\ud83d\\ude00"', '\0€€😀'],
    ['"\\ud800x"', '\ud800x'],
    ['"\\ude00\\ud83d"', '\ude00\ud83d'],
    ['"\u007f\u2028\ufeff"', '\u007f\u2028\ufeff'],
    ['[]', []],
    ['[ ]', []],
    ['[1,[2],{"a":[]}]', [1, [2], { a: [] }]],
    ['{}', {}],
    ['{ "a" : 1 , "b" : { } }', { a: 1, b: {} }],
    ['{"a\\u0062":1}', { ab: 1 }],
    ['{"2":1,"1":2}', { 1: 2, 2: 1 }],
  ])('reads %s', (text, value) => {
    expect(parseJson(text)).toEqual(value);
  });

  it.each([
    '9007199254740993',
    '-12345678901234567890',
    '0.12345678901234567890123',
    '1234567890123456789012.5',
  ])('keeps the digits of %s', (text) => {
    const value = parseJson(`[${text}]`);
    expect(value).toEqual([new ExactNumber(text)]);
  });

  it('keeps keys that objects have of themselves as data', () => {
    const text = '{"__proto__":{"a":1},"constructor":"c","toString":null,"":0,"hasOwnProperty":1}';
    const value = parseJson(text) as JsonObject;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString', '', 'hasOwnProperty']);
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ a: 1 });
    expect(JSON.stringify(value)).toBe(text);
  });

  it.each<[text: string, column: number, path: string, message: string]>([
    ['', 1, '', 'There is no JSON value'],
    ['  ', 3, '', 'There is no JSON value'],
    ['\ufeff{}', 1, '', 'Found U+FEFF where a value should be'],
    ['\u00a0', 1, '', 'Found U+00A0 where a value should be'],
    ['\f', 1, '', 'Found U+000C where a value should be'],
    ['nul', 1, '', 'Found "n" where a value should be'],
    ['nulL', 1, '', 'Found "n" where a value should be'],
    ['NaN', 1, '', 'Found "N" where a value should be'],
    ['undefined', 1, '', 'Found "u" where a value should be'],
    ['1 2', 3, '', 'Found "2" where the end should be'],
    ['{} {}', 4, '', 'Found "{" where the end should be'],
    ['{"a":1}x', 8, '', 'Found "x" where the end should be'],
    ['01', 1, '', '"01" is not a JSON number'],
    ['-', 1, '', '"-" is not a JSON number'],
    ['-x', 1, '', '"-" is not a JSON number'],
    ['+1', 1, '', 'Found "+" where a value should be'],
    ['.5', 1, '', 'Found "." where a value should be'],
    ['[1.]', 2, '/0', '"1." is not a JSON number'],
    ['{"n":1e}', 6, '/n', '"1e" is not a JSON number'],
    ['[-Infinity]', 2, '/0', '"-" is not a JSON number'],
    ['[1,]', 4, '/1', 'Found "]" where a value should be'],
    ['[,1]', 2, '/0', 'Found "," where a value should be'],
    ['[1 2]', 4, '', 'Found "2" where "," or "]" should be'],
    ['[1', 3, '', 'The text ends where "," or "]" should be'],
    ['[', 2, '/0', 'The text ends where a value should be'],
    ['{', 2, '', 'The text ends where a key in double quotes should be'],
    ['{"a":1,}', 8, '', 'Found "}" where a key in double quotes should be'],
    ["{'a':1}", 2, '', 'Found "\'" where a key in double quotes should be'],
    ['{a:1}', 2, '', 'Found "a" where a key in double quotes should be'],
    ['{"a" 1}', 6, '', 'Found "1" where ":" should be'],
    ['{"a":}', 6, '/a', 'Found "}" where a value should be'],
    ['{"a":1 "b":2}', 8, '', 'Found """ where "," or "}" should be'],
    ['{"a":{"b/c~":[0,tru]}}', 17, '/a/b~1c~0/1', 'Found "t" where a value should be'],
    ['// x', 1, '', 'Found "/" where a value should be'],
    ['"abc', 5, '', 'The text ends inside a string'],
    ['{"abc', 6, '', 'The text ends inside a string'],
    ['"a\tb"', 3, '', 'Found U+0009 in a string, where it must be escaped'],
    ['{"k":"a\nb"}', 8, '/k', 'Found U+000A in a string, where it must be escaped'],
    ['"\\x41"', 2, '', 'Found \\x, which is no escape, in a string'],
    ['"\\u12g4"', 2, '', 'Found \\u12g4, which is no escape, in a string'],
    ['"\\u12"', 2, '', 'Found \\u12", which is no escape, in a string'],
    ['"\\', 2, '', 'Found \\, which is no escape, in a string'],
    ['"\\"', 4, '', 'The text ends inside a string'],
    ['"😀" x', 6, '', 'Found "x" where the end should be'],
  ])('refuses %j', (text, column, path, message) => {
    const error = thrownBy(() => parseJson(text));
    expect(error).toBeInstanceOf(JsonlError);
    expect(error).toMatchObject({ code: 'invalid_json', message, location: { line: 1, column, path } });
  });

  it.each([
    ['{"a":1,"a":1}', 8, ''],
    ['{"a":1,"b":2,"\\u0061":3}', 14, ''],
    ['[{"x":{"__proto__":1,"__proto__":2}}]', 22, '/0/x'],
    ['{"constructor":1,"constructor":2}', 18, ''],
    ['{"1":1,"1":2}', 8, ''],
    ['{"":1,"":2}', 7, ''],
  ])('refuses a repeated key: %s', (text, column, path) => {
    const error = thrownBy(() => parseJson(text));
    expect(error).toMatchObject({ code: 'duplicate_key', location: { column, path } });
  });

  it('says line and column of a text of several lines, and the place the caller gave', () => {
    const error = thrownBy(() =>
      parseJson('{\n  "a": 1,\n  "b": x\n}', { location: { file: 'manifest.json' } }),
    );
    expect(error).toMatchObject({ location: { file: 'manifest.json', line: 3, column: 8, path: '/b' } });
  });

  it('reads 256 levels and no more', () => {
    expect(() => parseJson(nested(256))).not.toThrow();
    const error = thrownBy(() => parseJson(nested(257)));
    expect(error).toMatchObject({ code: 'nesting_too_deep', location: { column: 257 } });
    expect(thrownBy(() => parseJson('{"a":'.repeat(257)))).toMatchObject({ code: 'nesting_too_deep' });
  });

  it.each([0, 1, 2, 400, 1000])('reads %i levels when the caller wants that', (maxDepth) => {
    expect(() => parseJson(maxDepth === 0 ? '1' : nested(maxDepth), { maxDepth })).not.toThrow();
    expect(thrownBy(() => parseJson(nested(maxDepth + 1), { maxDepth }))).toMatchObject({
      code: 'nesting_too_deep',
    });
  });

  it.each([100_000, Number.POSITIVE_INFINITY, Number.NaN])(
    'does not overflow the stack with maxDepth %d',
    (maxDepth) => {
      expect(thrownBy(() => parseJson(nested(100_000), { maxDepth }))).toMatchObject({
        code: 'nesting_too_deep',
      });
    },
  );

  it('refuses numbers of over 1,000 digits with their place', () => {
    expect(thrownBy(() => parseJson('{"a":[1e1000]}'))).toMatchObject({
      code: 'number_too_long',
      location: { column: 7, path: '/a/0' },
    });
  });

  it('reads an object of 100,000 keys, and finds the one that stands twice', () => {
    const members = Array.from({ length: 100_000 }, (_, index) => `"key-${index}":${index}`);
    const value = parseJson(`{${members.join(',')}}`) as JsonObject;
    expect(Object.keys(value)).toHaveLength(100_000);
    expect(value['key-99999']).toBe(99_999);
    expect(thrownBy(() => parseJson(`{${members.join(',')},"key-500":0}`))).toMatchObject({
      code: 'duplicate_key',
    });
  });

  it('shortens what it quotes', () => {
    const error = thrownBy(() => parseJson(`[-${'1'.repeat(5000)}.]`)) as JsonlError;
    expect(error.message.length).toBeLessThan(200);
  });

  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        expect(JSON.stringify(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('reads every value however it is spelled', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const members = (found: JsonValue): unknown => JSON.stringify(found, (_, part) => sorted(part));
        expect(members(parseJson(spellDifferently(value)))).toBe(members(value));
      }),
    );
  });

  it('accepts what JSON.parse accepts, and refuses the rest with its own error', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '1',
      '-',
      '0',
      '.5',
      'e1',
      ' ',
      '\n',
      'null',
      'true',
      '"',
      '\\',
      '\\u00e',
      '\t',
      '\f',
    );
    const text = fc.oneof(
      fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join('')),
      anyText,
      // A valid text with one character changed, added or removed.
      fc.tuple(fc.jsonValue(), fc.nat(), fc.nat(2), token).map(([value, at, kept, added]) => {
        const valid = JSON.stringify(value);
        const position = at % (valid.length + 1);
        return (
          valid.slice(0, position) + (kept === 0 ? '' : added) + valid.slice(position + (kept === 2 ? 0 : 1))
        );
      }),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        let expected: string | undefined;
        try {
          expected = JSON.stringify(JSON.parse(candidate));
        } catch {}
        try {
          const value = parseJson(candidate);
          // A double of what JSON.stringify wrote is what JSON.parse made of it at first.
          expect(JSON.stringify(JSON.parse(JSON.stringify(value)))).toBe(expected);
        } catch (error) {
          if (!(error instanceof JsonlError)) throw error;
          expect(error.location.column).toBeGreaterThan(0);
          if (expected !== undefined) expect(['duplicate_key', 'number_too_long']).toContain(error.code);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

describe('JsonReader', () => {
  it('reads lines of many shapes out of one text, each as if it stood alone', () => {
    fc.assert(
      fc.property(
        fc.array(jsonValue, { maxLength: 8 }),
        fc.array(fc.nat(7), { maxLength: 20 }),
        (values, order) => {
          const lines = order.flatMap((index) =>
            values[index] === undefined ? [] : [spellDifferently(values[index])],
          );
          const text = lines.join('\n');
          const reader = new JsonReader(text);
          let start = 0;
          for (const line of lines) {
            expect(reader.read(start, start + line.length, {})).toEqual(parseJson(line));
            start += line.length + 1;
          }
        },
      ),
    );
  });

  it('goes on after an error', () => {
    const text = '{"a":{"b":1\n{"a":{"b":2}}';
    const reader = new JsonReader(text);
    expect(() => reader.read(0, 11, { line: 1 })).toThrow(JsonlError);
    expect(reader.read(12, text.length, { line: 2 })).toEqual({ a: { b: 2 } });
  });

  it.each(['{"a":', '{"a":1', '{"a"', '{', '"a', '[1,', '1'])(
    'does not read beyond the line of %s',
    (line) => {
      const reader = new JsonReader(`${line}\n1}`);
      const read = (): JsonValue => reader.read(0, line.length, { line: 7 });
      if (line === '1') expect(read()).toBe(1);
      else
        expect(thrownBy(read)).toMatchObject({
          code: 'invalid_json',
          location: { line: 7, column: line.length + 1 },
        });
    },
  );
});

/** Members in a fixed order, so that two objects can be compared as text. */
function sorted(part: unknown): unknown {
  if (part instanceof ExactNumber) return `exact ${part.text}`;
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
  return Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1));
}
