import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { PROBLEM_ROWS } from '../src/http/problem.ts';

const page = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8');

/** Code → the statuses that its row, or the heading above it, names. */
function documentedCodes(): Map<string, number[]> {
  const codes = new Map<string, number[]>();
  let ofHeading: number[] = [];
  for (const line of page.split('\n')) {
    const heading = /^## ([^:]*):/.exec(line)?.[1];
    if (heading !== undefined) ofHeading = [...heading.matchAll(/\d{3}/g)].map(([status]) => Number(status));
    const [, id, code, status] = /^\| <a id="(\w+)"><\/a>`(\w+)` \| (?:(\d{3}) \|)?/.exec(line) ?? [];
    if (code === undefined) continue;
    expect(id).toBe(code);
    codes.set(code, status === undefined ? ofHeading : [Number(status)]);
  }
  return codes;
}

it('docs/errors.md explains every code that an answer can bear, with its status, and no other', () => {
  const documented = documentedCodes();
  const statuses = new Map(
    Object.entries(PROBLEM_ROWS).map(([key, { code = key, status }]) => [code, status] as const),
  );
  expect([...documented.keys()].sort(), 'docs/errors.md needs a row for each code of problem.ts').toEqual(
    [...statuses.keys()].sort(),
  );
  for (const [code, status] of statuses) expect(documented.get(code), code).toContain(status);
});
