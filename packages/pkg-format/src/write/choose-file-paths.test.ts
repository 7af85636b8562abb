import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName } from '../zip/read-directory.ts';
import { chooseFilePaths, type FileContent } from './choose-file-paths.ts';

const content = (digit: string, ...ownPaths: string[]): FileContent => ({
  folder: 'assets',
  sha256: digit.repeat(64),
  extension: '.png',
  ownPaths: new Set(ownPaths),
});
const byContent = (digit: string) => `assets/${digit}${digit}/${digit.repeat(64)}.png`;

describe('chooseFilePaths', () => {
  it.each([
    ['no own path', [content('a')], [byContent('a')]],
    ['an own path', [content('a', 'assets/x.png')], ['assets/x.png']],
    ['two own paths', [content('a', 'assets/y', 'assets/x')], ['assets/x']],
    [
      'one path, two contents',
      [content('a', 'assets/x'), content('b', 'assets/x'), content('c', 'assets/y')],
      [byContent('a'), byContent('b'), 'assets/y'],
    ],
    [
      'a second own path that no other content has',
      [content('a', 'assets/x', 'assets/z'), content('b', 'assets/x')],
      ['assets/z', byContent('b')],
    ],
    ['another case', [content('a', 'assets/x'), content('b', 'assets/X')], [byContent('a'), byContent('b')]],
    [
      'a file and a folder',
      [content('a', 'assets/x'), content('b', 'assets/x/y')],
      [byContent('a'), byContent('b')],
    ],
    [
      "another content's place",
      [content('a', byContent('b')), content('b')],
      [byContent('a'), byContent('b')],
    ],
    [
      'outside its folder',
      [content('a', 'images/x.png'), content('b', 'assets/../x'), content('c', '/x')],
      ['a', 'b', 'c'].map(byContent),
    ],
    ['a name that readers pass over', [content('a', 'assets/.DS_Store')], [byContent('a')]],
    ['a lone surrogate', [content('a', 'assets/\ud800')], [byContent('a')]],
  ])('%s', (_, contents, paths) => {
    expect(chooseFilePaths(contents)).toEqual(paths);
  });

  it('never gives one path to two files, and does not depend on the order', () => {
    const names = fc.constantFrom(
      'assets/x',
      'assets/X',
      'assets/x/y',
      'assets/x/y/z',
      'assets/q',
      byContent('0'),
      byContent('1'),
      '../x',
    );
    const contents = fc
      .array(fc.uniqueArray(names, { maxLength: 3 }), { maxLength: 8 })
      .map((all) => all.map((own, i) => content(String(i), ...own)));
    fc.assert(
      fc.property(contents, (all) => {
        const paths = chooseFilePaths(all);
        expect(new Set(paths.map(foldName)).size).toBe(paths.length);
        for (const path of paths)
          for (const other of paths) expect(foldName(other).startsWith(`${foldName(path)}/`)).toBe(false);
        expect(chooseFilePaths(all.toReversed()).toReversed()).toEqual(paths);
      }),
    );
  });
});
