import { describe, expect, it } from 'vitest';
import { toMarkdown } from './reliability-reporter.ts';
import { tally } from './report.ts';

describe('toMarkdown', () => {
  const row = { area: 'The database', scenario: 'away', expected: '503' };

  it('has a table for each area, and one row for results of the same scenario', () => {
    const text = toMarkdown(
      [
        { ...row, runs: 1000, observed: { '503 unavailable': 999, 201: 1 } },
        { area: 'Access', scenario: 'no key', expected: '401', runs: 3, observed: tally([401, 401, 401]) },
        { ...row, runs: 500, observed: { '503 unavailable': 500 } },
        { ...row, expected: 'a|b', runs: 1, observed: { done: 1 } },
      ],
      [],
    );
    expect(text).toContain('npm run test:all -- --write');
    expect(text.slice(text.indexOf('## '))).toBe(`## Access

| scenario | expected | observed |
|---|---|---|
| no key | 401 | 401 |

## The database

| scenario | expected | observed |
|---|---|---|
| away | 503 | 201, 503 unavailable |
| away | a\\|b | done |
`);
  });

  it('lists skipped tests', () => {
    const text = toMarkdown([{ ...row, runs: 1, observed: { done: 1 } }], ['uploads > on a full disk']);
    expect(text.slice(text.indexOf('## Skipped'))).toBe(
      '## Skipped\n\nThis machine could not run:\n\n- uploads > on a full disk\n',
    );
  });
});
