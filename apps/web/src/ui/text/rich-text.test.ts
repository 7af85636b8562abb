import { MantineProvider } from '@mantine/core';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { RichText } from './rich-text.tsx';

const NOTICE = 'Shown raw: the text is too long to be rendered.';

const shownOf = (text: string): string =>
  renderToStaticMarkup(createElement(MantineProvider, null, createElement(RichText, { text })));

it('says of Markdown beyond 20,000 characters that it is shown raw, and of nothing else', () => {
  const words = 'word '.repeat(4_000);
  expect(shownOf(`# A title\n\n${words}`)).toContain(NOTICE);
  expect(shownOf(`# A title\n\n${words.slice(0, 100)}`)).not.toContain(NOTICE);
  expect(shownOf(`A title\n\n${words}`)).not.toContain(NOTICE);
});
