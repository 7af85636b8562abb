import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldName, safeEntryName } from '../zip/read-directory.ts';
import { sectionFileNames } from './plan-package.ts';

describe('sectionFileNames', () => {
  it.each([
    ['plain', ['a', 'b'], ['a.jsonl', 'b.jsonl']],
    ['one with spaces and accents', ['année 1'], ['année 1.jsonl']],
    ['unsafe', ['b/c', 'c\\d', 'd:e'], ['b%2Fc.jsonl', 'c%5Cd.jsonl', 'd%3Ae.jsonl']],
    ['percent', ['50%', 'a%2Fb'], ['50%25.jsonl', 'a%252Fb.jsonl']],
    ['dots', ['..', '.', '.a'], ['%2E%2E.jsonl', '%2E.jsonl', '%2Ea.jsonl']],
    ['empty', [''], ['%.jsonl']],
    ['line break and NUL', ['a\n\0'], ['a%0A%00.jsonl']],
    ['lone surrogate', ['a\ud800'], ['a%uD800.jsonl']],
    ['device', ['con', 'con.x', 'console'], ['%63on.jsonl', '%63on.x.jsonl', 'console.jsonl']],
    ['decomposed', ['e\u0301'], ['e%CC%81.jsonl']],
    ['blanks at the ends', [' a', 'a '], ['%20a.jsonl', 'a%20.jsonl']],
    ['other order', ['train', 'test'], ['0-train.jsonl', '1-test.jsonl']],
    ['order that the suffix breaks', ['a', 'a-b'], ['0-a.jsonl', '1-a-b.jsonl']],
    ['case', ['A', 'a'], ['0-A.jsonl', '1-a.jsonl']],
    [
      'eleven in another order',
      ['k', ...'abcdefghij'],
      [
        '00-k.jsonl',
        ...[...'abcdefghij'].map((name, index) => `${String(index + 1).padStart(2, '0')}-${name}.jsonl`),
      ],
    ],
  ])('%s', (_, names, files) => {
    expect(sectionFileNames(names)).toEqual(files);
  });

  it('gives safe, unique names in order', () => {
    const names = fc.uniqueArray(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: fc.constantFrom(...'aA.%/ é') }),
      ),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(names, (sections) => {
        const files = sectionFileNames(sections);
        expect(files.toSorted(compareUtf8)).toEqual(files);
        expect(new Set(files.map(foldName)).size).toBe(files.length);
        for (const file of files) expect(safeEntryName(`sections/${file}`)).toBe(`sections/${file}`);
        for (const file of files) expect(file).toMatch(/^[^\p{C}/\\]+\.jsonl$/u);
      }),
    );
  });

  it('shortens long names without mixing them up', () => {
    const [a, b] = sectionFileNames([`${'x'.repeat(500)}1`, `${'x'.repeat(500)}2`]);
    expect(a).not.toBe(b);
    expect(a!.length).toBeLessThan(230);
  });
});
