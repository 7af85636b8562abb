import { describe, expect, it } from 'vitest';
import { isPathInside } from '../package/layout.ts';
import { foldName, safeEntryName } from './read-directory.ts';

describe('safeEntryName', () => {
  it.each([
    ['a', 'a'],
    ['a/b.c', 'a/b.c'],
    ['a/', 'a/'],
    ['./a', 'a'],
    ['././a/', 'a/'],
    ['./', ''],
    ['...', '...'],
    ['..a/b..', '..a/b..'],
    ['a b/ü\u{1f600}', 'a b/ü\u{1f600}'],
  ])('takes %j as %j', (raw, name) => {
    expect(safeEntryName(raw)).toBe(name);
  });

  it.each([
    '',
    '/',
    '/a',
    '..',
    '../a',
    'a/..',
    'a/../b',
    '.',
    'a/.',
    'a/./b',
    'a//b',
    '//',
    'a\\b',
    '\\a',
    'C:',
    'c:/a',
    'a\0',
  ])('refuses %j', (raw) => {
    expect(() => safeEntryName(raw)).toThrow(expect.objectContaining({ code: 'package_unsafe_entry' }));
  });
});

describe('foldName', () => {
  it.each([
    ['A', 'a'],
    ['é', 'e\u0301'],
    ['Straße', 'STRASSE'],
    ['ΣΑΣ', 'σας'],
    ['a/', 'a'],
    ['ﬁ', 'FI'],
  ])('takes %j and %j as one', (a, b) => {
    expect(foldName(a)).toBe(foldName(b));
  });

  it.each([
    ['a', 'b'],
    ['a', 'a_'],
    ['e', 'é'],
  ])('keeps %j and %j apart', (a, b) => {
    expect(foldName(a)).not.toBe(foldName(b));
  });
});

describe('isPathInside', () => {
  it.each(['assets/a', 'assets/a/b.png'])('takes %j', (path) => {
    expect(isPathInside(path, 'assets/')).toBe(true);
  });
  it.each(['assets', 'assets/', 'assets/a/', 'assets/../a', 'assets//a', './assets/a', 'x/a', 'assets\\a'])(
    'refuses %j',
    (path) => {
      expect(isPathInside(path, 'assets/')).toBe(false);
    },
  );
});

it('folds names in time that grows with their length and no faster', () => {
  const startMs = performance.now();
  const name = `a${'\u0301'.repeat(120_000)}${'\u0323'.repeat(120_000)}`;
  expect(foldName(name)).toBe(foldName(name));
  expect(performance.now() - startMs).toBeLessThan(30_000);
});
