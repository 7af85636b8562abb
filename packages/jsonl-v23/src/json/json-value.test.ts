import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../test/arbitrary-json.ts';
import {
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  parseNumber,
  setMember,
} from './json-value.ts';

describe('ExactNumber', () => {
  it('holds canonical text', () => {
    const number = new ExactNumber('12345678901234567890');
    expect(number.text).toBe('12345678901234567890');
    expect(String(number)).toBe('12345678901234567890');
    expect(`${number}`).toBe('12345678901234567890');
  });

  it.each(['', 'x', '1.0', '1e2', '01', '-0', '1.50', '1000000000000000000000'])('refuses %j', (text) => {
    expect(thrownBy(() => new ExactNumber(text))).toMatchObject({ code: 'invalid_json' });
  });

  it('is written by JSON.stringify as the number it is', () => {
    expect(JSON.stringify({ a: [new ExactNumber('0.12345678901234567890123')] })).toBe(
      '{"a":[0.12345678901234567890123]}',
    );
  });
});

describe('parseNumber', () => {
  it.each([
    ['1.50', 1.5],
    ['1e2', 100],
    ['-0.0', 0],
    ['9007199254740993', new ExactNumber('9007199254740993')],
    ['1.23456789012345678900', new ExactNumber('1.234567890123456789')],
  ])('%s', (literal, value) => {
    expect(parseNumber(literal)).toEqual(value);
  });
});

describe('members', () => {
  it('are own members, whatever their names', () => {
    const object: JsonObject = {};
    expect(getMember(object, 'toString')).toBeUndefined();
    expect(getMember(object, '__proto__')).toBeUndefined();
    setMember(object, '__proto__', 1);
    setMember(object, 'toString', 2);
    expect(Object.entries(object)).toEqual([
      ['__proto__', 1],
      ['toString', 2],
    ]);
    expect(getMember(object, '__proto__')).toBe(1);
  });

  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ['x', false],
    [1, false],
    [undefined, false],
    [new ExactNumber('9007199254740993'), false],
  ])('isJsonObject(%j) is %s', (value, expected) => {
    expect(isJsonObject(value)).toBe(expected);
  });
});
