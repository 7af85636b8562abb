import { MantineProvider } from '@mantine/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import Markdown from './markdown.tsx';
import { canRender, hasMarks, isCodeLike, RichText } from './rich-text.tsx';

describe('canRender', () => {
  it.each([
    ['a list', '- a\n- b'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |\n'.repeat(100)],
    ['lists inside each other', `${'- '.repeat(50)}so`],
    ['quotes, which stay text', '>'.repeat(5_000)],
    ['a rule', '_'.repeat(200)],
    ['two lines', 'a\r\nb'],
  ])('is true for %s', (_, text) => {
    expect(canRender(text)).toBe(true);
    expect(() => renderToStaticMarkup(createElement(Markdown, { text }))).not.toThrow();
  });

  it.each([
    ['a long text', `# ${'a'.repeat(20_000)}`],
    ['many lines', 'a\n-\n'.repeat(1_001)],
    ['many lines of an older system', 'a\r-\r'.repeat(1_001)],
    ['lists that overflow the stack', '- 1. '.repeat(600)],
    ['such a line after others', `a\n\n${'\t-'.repeat(51)}`],
    ['marks without a partner', '*a_ '.repeat(1_501)],
  ])('is false for %s', (_, text) => {
    expect(canRender(text)).toBe(false);
  });
});

it.each([
  [
    true,
    '```\na',
    '## b',
    '- c',
    '2) d',
    'a | b\n--|--',
    '**e**',
    '[f](https://g)',
    '$h$',
    '\\(i\\)',
    'a\n\n  * j',
  ],
  [
    false,
    'so it is',
    '3*3=9\n60*9=540',
    'x**',
    '__init__.py',
    'C:\\*.txt',
    '-5',
    '#a',
    'a [b] (c)',
    '`d`',
    '> e',
    'f\n---',
  ],
])('says %s for what may be Markdown', (may, ...texts) => {
  for (const text of texts) expect([text, hasMarks(text as string)]).toEqual([text, may]);
});

it.each([
  ['def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a', true],
  ['function f() {\n  return 1;\n}', true],
  ['SELECT *\nFROM t;\n', true],
  ['let a = 1;', false],
  ['First, I add.\nThen I multiply.\nThe answer is 4.', false],
  ['Buy:\n  - milk\n  - bread', false],
  ['```py\ndef f():\n    pass\n```', false],
  ['We know that:\n  the sum is 4.', false],
  ['', false],
])('%j: %s', (text, is) => {
  expect(isCodeLike(text)).toBe(is);
});

it('takes time that grows with the text only', () => {
  const started = performance.now();
  for (const text of [' '.repeat(1e6), ':\n  x'.repeat(1e5), 'A'.repeat(1e6), '\n'.repeat(1e6)])
    isCodeLike(text);
  expect(performance.now() - started).toBeLessThan(30_000);
});

it('is true for what is known to be code, unless it says something around it', () => {
  expect(isCodeLike('return 1', true)).toBe(true);
  expect(isCodeLike('Here it is:\n\n```python\nreturn 1\n```', true)).toBe(false);
});

const NOTICE = 'Shown raw: the text is too long to be rendered.';

const shownOf = (text: string): string =>
  renderToStaticMarkup(createElement(MantineProvider, null, createElement(RichText, { text })));

it('says of Markdown beyond 20,000 characters that it is shown raw, and of nothing else', () => {
  const words = 'word '.repeat(4_000);
  expect(shownOf(`# A title\n\n${words}`)).toContain(NOTICE);
  expect(shownOf(`# A title\n\n${words.slice(0, 100)}`)).not.toContain(NOTICE);
  expect(shownOf(`A title\n\n${words}`)).not.toContain(NOTICE);
});
