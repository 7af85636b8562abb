import { describe, expect, it } from 'vitest';
import { toMarkdown } from './reliability-reporter.ts';
import { tally } from './report.ts';

describe('toMarkdown', () => {
  const row = { area: 'The database', scenario: 'away', expected: '503' };

  it('has a table for each area, and adds up what differs in its numbers alone', () => {
    const text = toMarkdown(
      [
        { ...row, runs: 1000, observed: { '503 unavailable': 999, 201: 1 } },
        { area: 'Access', scenario: 'no key', expected: '401', runs: 3, observed: tally([401, 401, 401]) },
        { ...row, runs: 500, observed: { '503 unavailable': 500 } },
        { ...row, expected: 'a|b', runs: 1, observed: { done: 1 } },
      ],
      [],
    );
    expect(text).toContain('npm run test:faults -- --write');
    expect(text.slice(text.indexOf('## '))).toBe(`## Access

| scenario | runs | expected | observed |
|---|---:|---|---|
| no key | 3 | 401 | 3 × 401 |

## The database

| scenario | runs | expected | observed |
|---|---:|---|---|
| away | 1,500 | 503 | 1 × 201, 1,499 × 503 unavailable |
| away | 1 | a\\|b | 1 × done |
`);
  });

  it('shows what happened before the fix of a finding', () => {
    const text = toMarkdown(
      [{ ...row, scenario: 'H1: a foreign Host', before: '200', runs: 2, observed: { 421: 2 } }],
      [],
    );
    expect(text.slice(text.indexOf('| finding'))).toBe(
      '| finding | runs | before | expected | observed |\n|---|---:|---|---|---|\n| H1: a foreign Host | 2 | 200 | 503 | 2 × 421 |\n',
    );
  });

  it('lists skipped tests', () => {
    const text = toMarkdown([{ ...row, runs: 1, observed: { done: 1 } }], ['uploads > on a full disk']);
    expect(text.slice(text.indexOf('## Skipped'))).toBe(
      '## Skipped\n\nThis machine could not run:\n\n- uploads > on a full disk\n',
    );
  });
});
