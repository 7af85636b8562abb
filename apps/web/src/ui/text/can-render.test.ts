import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { canRender } from './can-render.ts';
import Markdown from './markdown.tsx';

describe('canRender', () => {
  it.each([
    ['a list', '- a\n- b'],
    ['a table', '| a | b |\n|---|---|\n| 1 | 2 |\n'.repeat(100)],
    ['quotes inside each other', `${'> '.repeat(50)}so`],
    ['a rule', '_'.repeat(200)],
    ['two lines', 'a\r\nb'],
  ])('is true for %s', (_, text) => {
    expect(canRender(text)).toBe(true);
    expect(() => renderToStaticMarkup(createElement(Markdown, { text }))).not.toThrow();
  });

  it.each([
    ['no Markdown', 'so it is'],
    ['a long text', `# ${'a'.repeat(20_000)}`],
    ['many lines', 'a\n-\n'.repeat(1_001)],
    ['many lines of an older system', 'a\r-\r'.repeat(1_001)],
    ['quotes that overflow the stack', '>'.repeat(5_000)],
    ['quotes and lists that overflow it', '> - 1. '.repeat(600)],
    ['such a line after others', `a\n\n${'\t>'.repeat(51)}`],
    ['marks without a partner', '*a_ '.repeat(1_501)],
  ])('is false for %s', (_, text) => {
    expect(canRender(text)).toBe(false);
  });
});
