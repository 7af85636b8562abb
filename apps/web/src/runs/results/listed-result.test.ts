import { expect, it } from 'vitest';
import { gotOf, listedResult, readOf, reasoningOf, resultKey, whyOf } from './listed-result.tsx';

type Result = Parameters<typeof listedResult>[0];

const result = (facts: object): Result => ({ item: { inputs: {} }, ...facts }) as Result;

it('keeps the beginnings of long texts, which are the name of a row', () => {
  const long = 'word '.repeat(1_000);
  const item = { inputs: { prompt: long }, answer: long, meta: { source: long } };
  const { question, expected, meta } = listedResult(result({ item }));
  for (const text of [question, expected, meta['/source'] ?? ''])
    expect(text).toBe(`${'word '.repeat(24)}… (of 5,000 characters)`);
});

it.each([
  [
    'as the checker read it',
    { explanation: 'Read 24 from "So 24"', scored_by: 'checker', output: 'So 24.' },
    '24',
  ],
  [
    'the output of a judge',
    { explanation: 'Read 24 from "So 24"', scored_by: 'judge', output: 'So 24.' },
    'So 24.',
  ],
  ['without reasoning', { explanation: null, scored_by: 'judge', output: '<think>12?</think>24' }, '24'],
])('shows what came: %s', (_, facts, got) => {
  expect(gotOf(result(facts) as never)).toBe(got);
});

it.each([
  ['in the output', { explanation: 'Picked B: "(B)"', scored_by: 'checker', output: 'It is (B).' }, 'B'],
  ['as all of the output', { explanation: 'Picked B: "B"', scored_by: 'checker', output: 'B' }, undefined],
  ['without saying what', { explanation: 'Not equal', scored_by: 'checker', output: 'B' }, undefined],
])('tells what the checker read: %s', (_, facts, read) => {
  expect(readOf(result(facts))).toBe(read);
});

it.each([
  ['with the output', { reasoning: 'Hm.', output: 'B' }, 'Hm.'],
  ['in the output', { reasoning: null, output: '<think>Hm.</think>B' }, 'Hm.'],
  ['in both', { reasoning: 'Hm.', output: 'So.</think>B' }, 'Hm.\n\nSo.'],
  ['nowhere', { reasoning: null, output: { think: 'B' } }, null],
])('finds the reasoning of a result: %s', (_, facts, reasoning) => {
  expect(reasoningOf(result(facts))).toBe(reasoning);
});

it.each([
  ['what the checker says', { explanation: 'Read 24 from "24"', error: null }, 'Read 24 from "24"'],
  ['what the provider said', { explanation: null, error: { message: 'a', provider_message: 'no' } }, 'no'],
  ['what failed without it', { explanation: null, error: { message: 'a' } }, 'a'],
])('says why a result is what it is: %s', (_, facts, why) => {
  expect(whyOf(result(facts))).toBe(why);
});

it('names a result by its item, which stays where positions change', () => {
  const place = { section: 's', order_index: 3 };
  expect(resultKey({ ...place, item_hash: 'abc', repetition: 1 } as never)).toBe('abc');
  expect(resultKey({ ...place, item_hash: 'abc', repetition: 2 } as never)).toBe('abc.2');
  expect(resultKey({ ...place, item_hash: null, repetition: 1 } as never)).toBe('s 3');
});
