import { describe, expect, it } from 'vitest';
import { toMarkdown } from './reliability-reporter.ts';
import { tally } from './report.ts';

describe('toMarkdown', () => {
  const row = { area: 'The database', fault: 'away', promised: '503' };

  it('has a table for each area, and adds up what differs in its numbers alone', () => {
    const text = toMarkdown(
      [
        { ...row, tried: 1000, happened: { '503 unavailable': 999, 201: 1 } },
        { area: 'Access', fault: 'no key', promised: '401', tried: 3, happened: tally([401, 401, 401]) },
        { ...row, tried: 500, happened: { '503 unavailable': 500 } },
        { ...row, promised: 'a|b', tried: 1, happened: { done: 1 } },
      ],
      [],
    );
    expect(text).toContain('npm run test:faults -- --write');
    expect(text.slice(text.indexOf('## '))).toBe(`## Access

| fault or bad input | tried | promised | happened |
|---|---:|---|---|
| no key | 3 | 401 | 3 × 401 |

## The database

| fault or bad input | tried | promised | happened |
|---|---:|---|---|
| away | 1,500 | 503 | 1 × 201, 1,499 × 503 unavailable |
| away | 1 | a\\|b | 1 × done |
`);
  });

  it('shows what happened before the fix of a finding', () => {
    const text = toMarkdown(
      [{ ...row, fault: 'H1: a foreign Host', before: '200', tried: 2, happened: { 421: 2 } }],
      [],
    );
    expect(text.slice(text.indexOf('| finding'))).toBe(
      '| finding | tried | before | promised | now |\n|---|---:|---|---|---|\n| H1: a foreign Host | 2 | 200 | 503 | 2 × 421 |\n',
    );
  });

  it('names what could not be tried', () => {
    const text = toMarkdown([{ ...row, tried: 1, happened: { done: 1 } }], ['uploads > on a full disk']);
    expect(text.slice(text.indexOf('## Not tried'))).toBe(
      '## Not tried\n\nThe machine that wrote this could not:\n\n- uploads > on a full disk\n',
    );
  });
});
