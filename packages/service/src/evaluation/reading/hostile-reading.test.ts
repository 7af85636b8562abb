import { labelledChoices } from '@svc/jsonl-v23/mapping';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readChoice } from './read-choice.ts';
import { readAnswerNumber, readNumber } from './read-number.ts';

const listed = labelledChoices({
  inputs: { choices: ['red', 'a pear', '3.5', 'is', '$5', 'New York', 'York', '赤'] },
});

/** What outputs are made of: words of the rules, names, marks, and what markup has. */
const PARTS = [
  ...[
    'A',
    'B',
    'I',
    'a',
    'red',
    'a pear',
    '3.5',
    'is',
    'York',
    '赤',
    'the answer is ',
    'Answer: ',
    'so ',
    'not ',
    "n't ",
  ],
  ...[
    'options are:\n',
    'A) ',
    'and ',
    ', ',
    '. ',
    '\n',
    '?',
    ':',
    '=',
    '(',
    ')',
    '{',
    '}',
    '[',
    '<',
    '>',
    '"',
    "'",
    '*',
  ],
  ...[
    '_',
    '`',
    '$',
    '#',
    '####',
    '\\boxed{',
    '\\text{',
    '\\frac{',
    '\\sqrt{',
    '\\',
    '^',
    '/',
    '-',
    '–',
    '%',
    '1',
    '9',
  ],
  ...[
    '1,234',
    '1.2.3',
    '½',
    ' ',
    '\u00a0',
    '\u0301',
    '\u200b',
    '答案是',
    '不是',
    '选',
    'ではなく',
    '입니다',
    'не ',
    'उत्तर ',
  ],
  ...['because ', 'if ', 'maybe ', 'wait, ', 'million ', 'x 10^3', '😀', '\ud800', 'İ', 'ﬀ'],
];

describe('reading of any output', () => {
  const output = fc.array(fc.constantFrom(...PARTS), { maxLength: 60 }).map((parts) => parts.join(''));
  const anyText = fc.oneof(output, fc.string({ unit: 'binary' }));

  it('picks choices of the item, and one where one is asked for', () => {
    fc.assert(
      fc.property(anyText, fc.boolean(), (text, isSeveral) => {
        const { picked, words } = readChoice(text, listed, isSeveral);
        for (const one of picked) expect(listed.choices[one]).toBeDefined();
        if (!isSeveral) expect(picked.size).toBeLessThan(2);
        if (picked.size > 0) expect(words?.isWellFormed()).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads in an output that is an answer the number of the answer', () => {
    const parts = [
      ['', '-', '$', '€', '-$', '\\$', '####'],
      [
        '7',
        '0.5',
        '.5',
        '1,234',
        '1,00,000',
        '9{,}500',
        '1/2',
        '1 1/2',
        '\\frac{1}{2}',
        '½',
        '1e3',
        '1.5 x 10^3',
      ],
      ['', '%', '\\%', ' clips', ' km/h', '^\\circ', ' m^2', '.', ' million', '\\text{ cm}', 'kg', '個'],
    ] as const;
    fc.assert(
      fc.property(fc.tuple(...parts.map((one) => fc.constantFrom(...one))), (written) => {
        const answer = readAnswerNumber(written.join(''));
        if (answer === undefined) return;
        expect(readNumber(written.join(''), '.')?.value).toEqual(answer);
        expect(readNumber(`The answer is ${written.slice(-2).join('')}`, '.')).toBeDefined();
      }),
    );
  });

  it('finds numbers in any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(readNumber(text, '.')?.value.denominator ?? 1n).toBeGreaterThan(0n);
        expect(readAnswerNumber(text)?.denominator ?? 1n).toBeGreaterThan(0n);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(PARTS)('comes to an end: %j', (part) => {
    const text = part.repeat(Math.ceil(10_000 / part.length));
    for (const whole of [text, `The answer is ${text}`, `\\boxed{${text}`]) {
      readChoice(whole, listed, false);
      readChoice(whole, listed, true);
      readNumber(whole, '.');
    }
  });
});
