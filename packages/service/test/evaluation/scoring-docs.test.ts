import { readFileSync } from 'node:fs';
import { labelledChoices } from '@svc/jsonl-v23/mapping';
import { describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/evaluation/reading/languages.ts';
import { showRational } from '../../src/evaluation/reading/rational.ts';
import { readChoice } from '../../src/evaluation/reading/read-choice.ts';
import { readNumber } from '../../src/evaluation/reading/read-number.ts';
import { scoredOutput } from '../../src/evaluation/reading/scored-output.ts';

const text = readFileSync(new URL('../../../../docs/scoring.md', import.meta.url), 'utf8');

/** The output and what is read in it, of each row of a table; `⏎` is a line feed. */
function examples(head: string): [string, string][] {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${head} |`));
  expect(start).toBeGreaterThan(-1);
  const end = lines.findIndex((line, index) => index > start && !line.startsWith('|'));
  return lines.slice(start + 2, end).map((line) => {
    const cells = line.slice(1, line.lastIndexOf('|')).split('|');
    const [output = '', read = ''] = cells.slice(-2).map((cell) => codeOf(cell.trim()));
    return [output.replaceAll('⏎', '\n'), read];
  });
}

const codeOf = (cell: string): string => /^(`+)(.*)\1$/.exec(cell)?.[2] ?? cell;

describe('docs/scoring.md', () => {
  it.each(examples('output | scored'))('%j is scored as %j', (output, expected) => {
    const { scored, isOnlyReasoning } = scoredOutput(output, 'strip');
    expect(isOnlyReasoning ? 'nothing' : scored).toBe(expected.trim());
  });

  const listed = labelledChoices({ inputs: { choices: ['red', 'green', 'blue', 'none'] } });
  it.each(examples('rule | output | picks'))('%j picks %s', (output, expected) => {
    const picked = [...readChoice(output, listed, false).picked].map((one) => listed.choices[one]?.label);
    expect(picked.join() || 'nothing').toBe(expected);
  });

  it.each(examples('output | reads'))('%j reads %s', (output, expected) => {
    const found = readNumber(output, '.');
    expect(found === undefined ? 'nothing' : showRational(found.value)).toBe(expected);
  });

  it('names every language', () => {
    const names = new Intl.DisplayNames('en', { type: 'language' });
    const listed = LANGUAGES.map(({ code }) => names.of(code) ?? code).sort();
    const last = listed.pop();
    expect(text.replaceAll(/\s+/g, ' ')).toContain(`The languages are ${listed.join(', ')} and ${last}.`);
  });
});
