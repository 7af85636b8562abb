import { describe, expect, it } from 'vitest';
import type { Item } from '../item/item.ts';
import type { JsonValue } from '../json/json-value.ts';
import { labelledChoices, letter } from './choices.ts';

const labels = (choices: JsonValue) =>
  labelledChoices({ inputs: { choices } } as Item).choices.map((one) => `${one.label}=${one.text}`);

describe('labelledChoices', () => {
  it.each<[string, JsonValue, string[]]>([
    ['texts', ['x', 'y'], ['A=x', 'B=y']],
    ['numbers and nulls', [1, null, true], ['A=1', 'B=null', 'C=true']],
    [
      'labelled objects',
      [
        { label: '1', text: 'x' },
        { label: 2, text: 'y' },
      ],
      ['1=x', '2=y'],
    ],
    [
      'labels that are alike',
      [
        { label: 'A', text: 'x' },
        { label: 'A', text: 'y' },
      ],
      ['A=x', 'B=y'],
    ],
    ['a choice without a label', [{ label: 'Z', text: 'x' }, { text: 'y' }], ['A=x', 'B=y']],
    ['other objects', [{ b: 1, a: 2 }], ['A={"a":2,"b":1}']],
    [
      'keys and values',
      [
        { key: 'a', value: 'x' },
        { key: 'b', value: 'y' },
      ],
      ['a=x', 'b=y'],
    ],
    ['an object of labels', { B: 'y', A: 'x' }, ['A=x', 'B=y']],
    ['parallel lists', { text: ['x', 'y'], label: ['1', '2'] }, ['1=x', '2=y']],
    ['a Python list', "['x', 'y']", ['A=x', 'B=y']],
    ['no list', 'x', []],
    ['an empty list', [], []],
  ])('labels %s', (_name, choices, expected) => expect(labels(choices)).toEqual(expected));

  it('has none without inputs', () => {
    expect(labelledChoices({}).choices).toEqual([]);
    expect(labelledChoices({ inputs: null } as unknown as Item).choices).toEqual([]);
  });
});

describe('letter', () => {
  it.each([
    [0, 'A'],
    [25, 'Z'],
    [26, 'AA'],
    [27, 'AB'],
    [51, 'AZ'],
    [52, 'BA'],
    [701, 'ZZ'],
    [702, 'AAA'],
  ])('%i is %s', (index, expected) => expect(letter(index)).toBe(expected));
});
