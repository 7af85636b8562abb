import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { limitVariables } from '../apps/standalone/test/faults/limits/limit-variables.ts';
import { LIMITS, PROMISES } from './promises.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

it('each variable that is a limit has a test that keeps it', () => {
  expect(Object.keys(LIMITS).sort(), 'tools/promises.ts needs a row for each limit').toEqual(
    limitVariables().sort(),
  );
});

describe.each(Object.entries({ ...LIMITS, ...PROMISES }))('%s', (_, [file, title]) => {
  it('has a test of the fast suite that keeps it', () => {
    expect(file).not.toContain('.long.test.');
    const text = readFileSync(`${root}${file}`, 'utf8');
    const at = text.indexOf(title);
    expect(at, `${file} has no test "${title}"`).toBeGreaterThan(0);
    // the call that the title belongs to
    const call = /(?:^|\n)\s*it\b[^\n]*(?![\s\S]*\n\s*it\b)/.exec(text.slice(0, at))?.[0] ?? '';
    expect(call).not.toContain('runIf(IS_LONG');
  });
});
