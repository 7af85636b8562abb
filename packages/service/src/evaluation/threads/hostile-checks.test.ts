import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import { describe, expect, it } from 'vitest';
import { checkOutput } from '../../../test/evaluation/check-output.ts';
import { createCheckRunner } from './check-runner.ts';

/** A linear check of these inputs takes well under a second; a quadratic one takes minutes. */
const MAX_MS = 30_000;

const repeat = (text: string, count: number): string => text.repeat(count);
const choices = (count: number): string[] => Array.from({ length: count }, (_, i) => `choice ${i}`);
const marks = repeat('\u0301', 60_000) + repeat('\u0323', 60_000);

/** Without threads there is no deadline, so that only the check itself takes time. */
const checks = createCheckRunner({ threads: 0 });

const CASES: readonly (readonly [string, Item, JsonValue])[] = [
  [
    'includes: a…aba…a in a…a',
    { answer: `${repeat('a', 250_000)}b${repeat('a', 250_000)}`, checker: 'includes' },
    repeat('a', 2_000_000),
  ],
  [
    'includes: 64,000 answers in a long output',
    {
      answer: Array.from({ length: 64_000 }, (_, i) => `answer number ${i} that is nowhere`),
      checker: 'includes',
    },
    repeat('answer number ', 100_000),
  ],
  [
    'includes: combining marks that normalisation reorders',
    { answer: 'x', checker: 'includes' },
    `a${marks}`,
  ],
  ['exact_match: combining marks', { answer: `e${marks}`, checker: 'exact_match' }, `a${marks}`],
  [
    'choice: an array of 60,000 elements and 1,000 choices',
    { inputs: { choices: choices(1_000) }, answer: 'choice 5', checker: 'choice' },
    Array.from({ length: 60_000 }, (_, i) => `no such choice ${i}`),
  ],
  [
    'choice: 60,000 answers and 1,000 choices',
    {
      inputs: { choices: choices(1_000) },
      answer: Array.from({ length: 60_000 }, () => 'choice 999'),
      checker: 'choice',
    },
    'choice 999',
  ],
  [
    'choice: a label of a star and an output of stars',
    {
      inputs: {
        choices: [
          { label: '*', text: 'star' },
          { label: '_', text: 'line' },
        ],
      },
      answer: '*',
      checker: 'choice',
    },
    `${repeat('*', 100_000)}x`,
  ],
  [
    'choice: a long label that begins like the output',
    {
      inputs: {
        choices: [
          { label: `${repeat('a', 50_000)}b`, text: 'one' },
          { label: 'c', text: 'two' },
        ],
      },
      answer: 'c',
      checker: 'choice',
    },
    repeat('a', 100_000),
  ],
  [
    'choice: a text of a…ab in an output of a…a',
    { inputs: { choices: [`${repeat('a', 40_000)}b`, 'two'] }, answer: 'two', checker: 'choice' },
    `x ${repeat('a', 90_000)} y`,
  ],
  [
    'choice: blanks in a box',
    { inputs: { choices: ['one', 'two'] }, answer: 'A', checker: 'choice' },
    `\\boxed{${repeat(' ', 99_000)}!`,
  ],
  [
    'choice: labels of words that the output repeats',
    {
      inputs: { choices: choices(1_000).map((text, i) => ({ label: `${repeat('a ', 30)}${i}`, text })) },
      answer: 'choice 1',
      checker: 'choice',
    },
    repeat('a ', 50_000),
  ],
  [
    'choice: combining marks',
    { inputs: { choices: ['one', `o${marks}`] }, answer: 'A', checker: 'choice' },
    `o${marks}`,
  ],
  [
    'numeric: 200 answers of 50,000 digits',
    {
      answer: Array.from({ length: 200 }, (_, i) => `${i + 1}${repeat('7', 50_000)}`),
      checker: 'numeric',
    },
    repeat('3', 50_000),
  ],
  ['numeric: groups of digits', { answer: 1, checker: 'numeric' }, `${repeat('111,', 25_000)}1111`],
  [
    'json_equal: fences',
    { answer: { a: 1 }, checker: 'json_equal' },
    `\`\`\`json\n${repeat('``` \n', 200_000)}x`,
  ],
  ['regex: nested repeats', { checker: { type: 'regex', pattern: '^(a+)+$' } }, `${repeat('a', 100_000)}!`],
];

describe('a check of hostile content', () => {
  it.each(CASES)('takes linear time: %s', async (_name, item, output) => {
    const startMs = performance.now();
    try {
      await checkOutput({ item, output, judge: null, checks, signal: new AbortController().signal });
    } catch (error) {
      expect(error).toMatchObject({ code: 'checker_limit' });
    }
    expect(performance.now() - startMs).toBeLessThan(MAX_MS);
  });
});
