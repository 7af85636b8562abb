import { describe, expect, it } from 'vitest';
import { ExactNumber, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { parseJson } from '../json/parse-json.ts';
import { toChoices } from './choices.ts';

describe('toChoices', () => {
  it.each<[string, JsonValue, JsonValue[] | null]>([
    ['an array', ['a', 1, null, { text: 'b' }], ['a', 1, null, { text: 'b' }]],
    ['an empty array', [], []],
    [
      'a JSON array in a string',
      ' ["a", 12345678901234567890]\n',
      ['a', new ExactNumber('12345678901234567890')],
    ],
    ['an empty JSON array in a string', '[]', []],
    ['a word', 'yes', ['yes']],
    ['an empty string', '', ['']],
    ['a list in another language', "['a', 'b']", ["['a', 'b']"]],
    ['a broken JSON array', '["a",', ['["a",']],
    ['a JSON object in a string', '{"a":["b"],"c":["d"]}', ['{"a":["b"],"c":["d"]}']],
    ['a JSON string in a string', '"[]"', ['"[]"']],
    ['an array that is nested too deep', '['.repeat(300), ['['.repeat(300)]],
    ['a number', 5, [5]],
    ['false', false, [false]],
    ['an exact number', new ExactNumber('9007199254740993'), [new ExactNumber('9007199254740993')]],
    [
      'parallel arrays',
      { text: ['x', 'y'], label: ['A', 'B'] },
      [
        { label: 'A', text: 'x' },
        { label: 'B', text: 'y' },
      ],
    ],
    ['three parallel arrays', { a: [1], b: [null], c: [[]] }, [{ a: 1, b: null, c: [] }]],
    ['empty parallel arrays', { text: [], label: [] }, []],
    ['arrays of different lengths', { text: ['x'], label: ['A', 'B'] }, null],
    ['one array', { text: ['x'] }, null],
    ['an object of words', { A: 'x', B: 'y' }, null],
    ['an array and a word', { text: ['x'], label: 'A' }, null],
    ['an empty object', {}, null],
  ])('%s', (_, cell, choices) => {
    expect(toChoices(cell)).toEqual(choices);
  });

  it('keeps every key of parallel arrays', () => {
    const [choice] = toChoices(parseJson('{"__proto__":[1],"a":[2]}')) as JsonObject[];
    expect(JSON.stringify(choice)).toBe('{"__proto__":1,"a":2}');
  });
});
