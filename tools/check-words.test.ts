import { describe, expect, it } from 'vitest';
import { IDENTIFIERS, PHRASES } from './retired-words.ts';
import { splitSource } from './split-source.ts';

const isRetired = (text: string): boolean => PHRASES.some(({ pattern }) => text.search(pattern) !== -1);

describe('PHRASES', () => {
  it.each([
    'the key stands in the header',
    'This is no package',
    'a process of its own',
    'a folder of its\n * own',
    'Whoever asks',
    'work under way',
    'the server answered with 404',
  ])('find %j', (text) => expect(isRetired(text)).toBe(true));

  it.each([
    'a standalone process that we understand',
    'there is no package',
    'it is no longer needed',
    'its own folder',
    'rowbeside',
    "`'spool'` and `spool.clean`",
    'the reference answer of an item',
  ])('do not find %j', (text) => expect(isRetired(text)).toBe(false));
});

describe('IDENTIFIERS', () => {
  it.each([
    ['sendAnswer', true],
    ['MOST_ENTRIES', true],
    ['formatPlace', true],
    ['answer', false],
    ['answerColumn', false],
    ['answer_column', false],
    ['replace', false],
    ['moveInPlace', false],
  ])('%s: %s', (name, expected) => {
    expect(IDENTIFIERS.some(({ pattern }) => pattern.test(name))).toBe(expected);
  });
});

describe('splitSource', () => {
  it('separates code, comments and strings', () => {
    const source =
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a source text
      "const a = 'x // y'; // one\n// two\nlet b = `${c + `${d}`} text`; /* z */ e /= /['/]/.test(f);";
    const pieces = [...splitSource(source)];
    expect(pieces.map(({ kind, text }) => [kind, text])).toEqual([
      ['code', 'const a = '],
      ['string', "'x // y'"],
      ['code', '; '],
      ['comment', '// one\n// two'],
      ['code', '\nlet b = '],
      ['string', '`${'],
      ['code', 'c + '],
      ['string', '`${'],
      ['code', 'd'],
      ['string', '}`'],
      ['string', '} text`'],
      ['code', '; '],
      ['comment', '/* z */'],
      ['code', " e /= /['/]/.test(f);"],
    ]);
    expect(pieces.map(({ text }) => text).join('')).toBe(source);
  });
});
