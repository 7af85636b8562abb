import { canonicalJson } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { EMPTY_FORM, modelOf } from '../run-form.ts';
import { readObject, readPairs } from './model-texts.ts';

describe('the texts of a model', () => {
  it('keeps every digit of parameters, and names the place of what is invalid', () => {
    const params = '{"seed": 9007199254740993, "nested": [0.12345678901234567890]}';
    const form = {
      ...EMPTY_FORM.model,
      baseUrl: 'http://model.example',
      model: 'm',
      temperature: 0.5,
      params,
    };
    expect(canonicalJson(modelOf('openai_compatible', form) ?? {})).toContain(
      '"params":{"nested":[0.1234567890123456789],"seed":9007199254740993,"temperature":0.5}',
    );
    expect(readObject(' \n')).toEqual({ value: {}, problem: null });
    expect(readObject('null').problem).toBe('This is not a JSON object.');
    expect(readObject('{"a": 1,\n "b" 2}').problem).toMatch(/^Invalid JSON: .+ \(line 2, column 6\)\.$/);
    expect(readObject('{"a": 1, "a": 2}').problem).toMatch(/^Invalid JSON: Duplicate key "a" \(line 1, /);
    expect(modelOf('openai_compatible', { ...form, params: '{"a": 1,}' })).toBeNull();
  });

  it('reads a pair on each line, and names the line that has none', () => {
    expect(readPairs('a=1\n\n b = x=y \n__proto__=\n', '=').value).toEqual(
      Object.fromEntries([
        ['a', '1'],
        ['b', 'x=y'],
        ['__proto__', ''],
      ]),
    );
    expect(readPairs('x-team: evaluation\nx-stage test', ':').problem).toBe(
      'Line 2 must be name: value, got "x-stage test".',
    );
    expect(readPairs(`=${'v'.repeat(100)}`, '=').problem).toMatch(
      /^Line 1 must be name=value, got "=v{38}…"\.$/,
    );
    expect(readPairs('a=1\na=2', '=').problem).toBe('Line 2 repeats "a".');
    const form = { ...EMPTY_FORM.model, baseUrl: 'http://model.example', model: 'm', query: 'version' };
    expect(modelOf('openai_compatible', form)).toBeNull();
    // the Messages API has no query, so its field is neither shown nor read
    expect(modelOf('anthropic', form)).not.toBeNull();
    expect(modelOf('anthropic', { ...form, headers: 'anthropic-beta' })).toBeNull();
  });
});
