import { describe, expect, it } from 'vitest';
import { readObject, readPairs } from './config-values.ts';

describe('the texts of a model', () => {
  it('names the place of what is invalid', () => {
    expect(readObject(' \n')).toEqual({ value: {}, problem: null });
    expect(readObject('null').problem).toBe('This is not a JSON object.');
    expect(readObject('{"a": 1,\n "b" 2}').problem).toMatch(/^Invalid JSON: .+ \(line 2, column 6\)\.$/);
    expect(readObject('{"a": 1, "a": 2}').problem).toMatch(/^Invalid JSON: Duplicate key "a" \(line 1, /);
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
  });
});
