import { afterEach, describe, expect, it } from 'vitest';
import { ExactNumber, jsonText } from './json-value.ts';

const { rawJSON } = JSON as { rawJSON?: unknown };
afterEach(() => {
  Object.assign(JSON, { rawJSON });
});

describe.each(['with', 'without'])('jsonText %s JSON.rawJSON', (engine) => {
  it('writes members in their order and every digit', () => {
    if (engine === 'without') Reflect.deleteProperty(JSON, 'rawJSON');
    const value = { b: [new ExactNumber('12345678901234567890'), 1.5, '"1"'], a: { ['__proto__']: null } };
    expect(jsonText(value)).toBe('{"b":[12345678901234567890,1.5,"\\"1\\""],"a":{"__proto__":null}}');
    expect(jsonText({ a: 1 }, 2)).toBe('{\n  "a": 1\n}');
  });
});
