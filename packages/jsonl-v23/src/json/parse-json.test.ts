import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { times } from '../../../../tools/vitest/long.ts';
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

  it('keeps the names of inherited members as data', () => {
    const text = '{"__proto__":{"a":1},"constructor":"c","toString":null,"":0,"hasOwnProperty":1}';
    const value = parseJson(text) as JsonObject;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value)).toEqual(['__proto__', 'constructor', 'toString', '', 'hasOwnProperty']);
    expect(Object.getOwnPropertyDescriptor(value, '__proto__')?.value).toEqual({ a: 1 });
    expect(JSON.stringify(value)).toBe(text);
  });

  it.each<[text: string, column: number, path: string, message: string]>([
    ['', 1, '', 'Expected a value, got the end of the text'],
    ['  ', 3, '', 'Expected a value, got the end of the text'],
    ['\ufeff{}', 1, '', 'Expected a value, got U+FEFF'],
    ['\u00a0', 1, '', 'Expected a value, got U+00A0'],
    ['\f', 1, '', 'Expected a value, got U+000C'],
    ['nul', 1, '', 'Expected a value, got "n"'],
    ['nulL', 1, '', 'Expected a value, got "n"'],
    ['NaN', 1, '', 'Expected a value, got "N"'],
    ['undefined', 1, '', 'Expected a value, got "u"'],
    ['1 2', 3, '', 'Expected the end of the text, got "2"'],
    ['{} {}', 4, '', 'Expected the end of the text, got "{"'],
    ['{"a":1}x', 8, '', 'Expected the end of the text, got "x"'],
    ['01', 1, '', '"01" is not a JSON number'],
    ['-', 1, '', '"-" is not a JSON number'],
    ['-x', 1, '', '"-" is not a JSON number'],
    ['+1', 1, '', 'Expected a value, got "+"'],
    ['.5', 1, '', 'Expected a value, got "."'],
    ['[1.]', 2, '/0', '"1." is not a JSON number'],
    ['{"n":1e}', 6, '/n', '"1e" is not a JSON number'],
    ['[-Infinity]', 2, '/0', '"-" is not a JSON number'],
    ['[1,]', 4, '/1', 'Expected a value, got "]"'],
    ['[,1]', 2, '/0', 'Expected a value, got ","'],
    ['[1 2]', 4, '', 'Expected "," or "]", got "2"'],
    ['[1', 3, '', 'Expected "," or "]", got the end of the text'],
    ['[', 2, '/0', 'Expected a value, got the end of the text'],
    ['{', 2, '', 'Expected a key in double quotes, got the end of the text'],
    ['{"a":1,}', 8, '', 'Expected a key in double quotes, got "}"'],
    ["{'a':1}", 2, '', 'Expected a key in double quotes, got "\'"'],
    ['{a:1}', 2, '', 'Expected a key in double quotes, got "a"'],
    ['{"a" 1}', 6, '', 'Expected ":", got "1"'],
    ['{"a":}', 6, '/a', 'Expected a value, got "}"'],
    ['{"a":1 "b":2}', 8, '', 'Expected "," or "}", got """'],
    ['{"a":{"b/c~":[0,tru]}}', 17, '/a/b~1c~0/1', 'Expected a value, got "t"'],
    ['// x', 1, '', 'Expected a value, got "/"'],
    ['"abc', 5, '', 'Unterminated string'],
    ['{"abc', 6, '', 'Unterminated string'],
    ['"a\tb"', 3, '', 'Unescaped control character U+0009 in a string'],
    ['{"k":"a\nb"}', 8, '/k', 'Unescaped control character U+000A in a string'],
    ['"\\x41"', 2, '', 'Invalid escape sequence \\x'],
    ['"\\u12g4"', 2, '', 'Invalid escape sequence \\u12g4'],
    ['"\\u12"', 2, '', 'Invalid escape sequence \\u12"'],
    ['"\\', 2, '', 'Invalid escape sequence \\'],
    ['"\\"', 4, '', 'Unterminated string'],
    ['"😀" x', 6, '', 'Expected the end of the text, got "x"'],
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
  ])('refuses a duplicate key: %s', (text, column, path) => {
    const error = thrownBy(() => parseJson(text));
    expect(error).toMatchObject({ code: 'duplicate_key', location: { column, path } });
  });

  it('locates errors in a text of several lines, from the given location on', () => {
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

  it.each([0, 1, 2, 400, 1000])('reads %i levels when maxDepth allows that', (maxDepth) => {
    expect(() => parseJson(maxDepth === 0 ? '1' : nested(maxDepth), { maxDepth })).not.toThrow();
    expect(thrownBy(() => parseJson(nested(maxDepth + 1), { maxDepth }))).toMatchObject({
      code: 'nesting_too_deep',
    });
  });

  it.each([100_000, Number.POSITIVE_INFINITY])('does not overflow the stack with maxDepth %d', (maxDepth) => {
    expect(thrownBy(() => parseJson(nested(100_000), { maxDepth }))).toMatchObject({
      code: 'nesting_too_deep',
    });
  });

  it('refuses numbers of more than 1,000 digits with their location', () => {
    expect(thrownBy(() => parseJson('{"a":[1e1000]}'))).toMatchObject({
      code: 'number_too_long',
      location: { column: 7, path: '/a/0' },
    });
  });

  it('reads an object of 100,000 keys, and finds a duplicate', () => {
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

  it('reads every spelling of a value', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const members = (found: JsonValue): unknown => JSON.stringify(found, (_, part) => sorted(part));
        expect(members(parseJson(spellDifferently(value)))).toBe(members(value));
      }),
    );
  });

  it('reads strings of any length as JSON.parse does', () => {
    const parts = [
      'x'.repeat(255),
      'é'.repeat(300),
      '\\"',
      '\\\\',
      '\\u00e9',
      '\\x',
      '\t',
      '"',
      ',"y"',
      '\ud800',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 6 }), (chosen) => {
        const text = `["${chosen.join('')}"]`;
        let expected: unknown;
        try {
          expected = JSON.parse(text);
        } catch {
          expect(() => parseJson(text)).toThrow(JsonlError);
          return;
        }
        expect(parseJson(text)).toEqual(expected);
      }),
      { numRuns: times(500, 100) },
    );
    const long = 'x'.repeat(2 ** 20 + 1);
    expect(parseJson(`["${long}"]`)).toEqual([long]);
    expect(() => parseJson(`["${'x'.repeat(300)}\\x"]`)).toThrow(/Invalid escape sequence \\x/);
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
      { numRuns: times(2000, 400) },
    );
  });
});

describe('JsonReader', () => {
  it('reads lines of many shapes from one text as if each were alone', () => {
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

  it('works after an error', () => {
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
