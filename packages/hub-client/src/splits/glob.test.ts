import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob } from './glob.ts';

describe('compileGlob', () => {
  it.each([
    ['a.csv', ['a.csv'], ['b.csv', 'd/a.csv', 'a.csv.gz']],
    ['data/*.csv', ['data/x.csv', 'data/.csv'], ['data/d/x.csv', 'x.csv', 'data/x.tsv']],
    ['*/train.csv', ['en/train.csv'], ['train.csv', 'x/y/train.csv', '/train.csv']],
    ['a?.csv', ['a1.csv', 'aé.csv', 'a😀.csv'], ['a.csv', 'a10.csv', 'a/.csv']],
    ['s-[0-9].csv', ['s-0.csv', 's-9.csv'], ['s-x.csv', 's-10.csv']],
    ['s-[!0-9].csv', ['s-x.csv'], ['s-3.csv', 's-/.csv']],
    ['[-._ 0-9]x', ['-x', '.x', ' x', '5x'], ['ax', '/x']],
    ['[]]a', [']a'], ['a']],
    ['[a-', ['[a-'], ['a']],
    ['{a,b}.csv', ['{a,b}.csv'], ['a.csv']],
    ['**', ['a.csv', 'd/e/a.csv'], []],
    ['**/*.csv', ['a.csv', 'd/e/a.csv'], ['a.tsv']],
    ['a/**/*.csv', ['a/x.csv', 'a/b/c/x.csv'], ['x.csv', 'b/a/x.csv']],
    ['a/**/b/**/c', ['a/b/c', 'a/x/b/y/b/z/c'], ['a/c', 'a/b', 'b/c']],
    ['train-*-of-*', ['train-00000-of-00001.parquet'], ['train-of']],
  ])('%s', (pattern, matching, others) => {
    const glob = compileGlob(pattern)!;
    expect(matching.filter((path) => !glob.matches(path))).toEqual([]);
    expect(others.filter((path) => glob.matches(path))).toEqual([]);
    expect(matching.every((path) => path.startsWith(glob.literalPrefix))).toBe(true);
  });

  it.each(['**.csv', 'a**', 'x/a**b/y'])('has no meaning for %s', (pattern) => {
    expect(compileGlob(pattern)).toBeNull();
  });

  it('takes steps in proportion to the lengths, not exponentially', () => {
    const glob = compileGlob(`${'**/'.repeat(100)}${'*a'.repeat(100)}b`)!;
    const budget = { steps: 10_000_000 };
    expect(glob.matches(`${'x/'.repeat(100)}${'a'.repeat(500)}`, budget)).toBe(false);
    expect(budget.steps).toBeGreaterThan(0);
  });

  it('stops when the budget is used up', () => {
    const budget = { steps: 3 };
    compileGlob('*a*a*a*b')!.matches('aaaaaaaaaaaa', budget);
    expect(budget.steps).toBeLessThan(0);
  });

  it('agrees with a regular expression', () => {
    const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 6 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(part, name, (pattern, path) => {
        fc.pre(!pattern.includes('**'));
        const source = pattern === '*' ? '[^/]+' : pattern.replaceAll('*', '[^/]*').replaceAll('?', '[^/]');
        expect(compileGlob(pattern)!.matches(path)).toBe(new RegExp(`^${source}$`).test(path));
      }),
    );
  });
});
