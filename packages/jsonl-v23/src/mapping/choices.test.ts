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
    [
      'a Python list in a string',
      ` ['a', "it's", 'a "b"', '\\'\\\\n\\n', u'\\xe9\\u00e9\\U0001F600', ]`,
      [...['a', "it's", 'a "b"', "'\\n\n", 'éé😀']],
    ],
    ['a NumPy array in a string', "['a'\n 'b, c' 'd']", ['a', 'b, c', 'd']],
    ['numbers in a Python list', '[1, -2.5, None, True]', [1, -2.5, null, true]],
    ['a Python list with a call', "['a', print(1)]", ["['a', print(1)]"]],
    ['a Python list without an end', "['a', 'b", ["['a', 'b"]],
    ['a broken JSON array', '["a",', ['["a",']],
    ['other brackets', '[a) 1, b) 2]', ['[a) 1, b) 2]']],
    ['a JSON object of arrays in a string', '{"a":["b"],"c":["d"]}', ['{"a":["b"],"c":["d"]}']],
    [
      'a JSON object of labels in a string',
      '{"B":"y","A":"x"}',
      [
        { label: 'A', text: 'x' },
        { label: 'B', text: 'y' },
      ],
    ],
    [
      'a dictionary of pandas in a string',
      "{'text': array(['x', 'y'], dtype=object), 'label': array(['A', 'B'], dtype=object)}",
      [
        { text: 'x', label: 'A' },
        { text: 'y', label: 'B' },
      ],
    ],
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
    [
      'keys and values',
      [
        { key: 'A', value: 'x' },
        { key: 'B', value: 1 },
        { key: 'C', value: 'x', url: 'z' },
      ],
      [
        { label: 'A', text: 'x' },
        { label: 'B', text: 1 },
        { key: 'C', value: 'x', url: 'z' },
      ],
    ],
    ['three parallel arrays', { a: [1], b: [null], c: [[]] }, [{ a: 1, b: null, c: [] }]],
    ['empty parallel arrays', { text: [], label: [] }, []],
    ['arrays of different lengths', { text: ['x'], label: ['A', 'B'] }, null],
    ['one array', { text: ['x'] }, null],
    [
      'labels and texts, in the order of the labels',
      { B: 'y', AA: 'z', A: 'x', C: null },
      [
        { label: 'A', text: 'x' },
        { label: 'B', text: 'y' },
        { label: 'AA', text: 'z' },
      ],
    ],
    [
      'numbers as labels',
      { 10: 'z', 9: 5, 1: 'x' },
      [
        { label: '1', text: 'x' },
        { label: '9', text: 5 },
        { label: '10', text: 'z' },
      ],
    ],
    ['one choice that is an object', { label: 'A', text: 'x' }, null],
    ['one label', { A: 'x' }, null],
    ['labels of objects', { A: { text: 'x' }, B: { text: 'y' } }, null],
    ['an array and a word', { text: ['x'], label: 'A' }, null],
    ['an empty object', {}, null],
  ])('%s', (_, cell, choices) => {
    expect(toChoices(cell)).toEqual(choices);
  });

  it('reads no Python list that is longer than the options of a question', () => {
    const list = `[${"'a', ".repeat(20_000)}]`;
    expect(toChoices(list)).toEqual([list]);
  });

  it('keeps every key of parallel arrays', () => {
    const [choice] = toChoices(parseJson('{"__proto__":[1],"a":[2]}')) as JsonObject[];
    expect(JSON.stringify(choice)).toBe('{"__proto__":1,"a":2}');
  });
});
