import { MantineProvider } from '@mantine/core';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { listedResult } from '../listed-result.tsx';
import { ExpectedAndGot } from './result-pane.tsx';

/** What the pane marks and shows of a wrong output. */
function shown(answer: string, output: string, item: JsonObject | null = { answer }) {
  const facts = { item: { inputs: {}, answer }, output, passed: false, scored_by: 'checker' };
  const result = listedResult(facts as never);
  const pane = createElement(ExpectedAndGot, { result, item });
  const html = renderToStaticMarkup(createElement(MantineProvider, null, pane));
  return {
    texts: html.replaceAll(/<style[\s\S]*?<\/style>|<[^>]*>/g, ''),
    marked: [...html.matchAll(/<(ins|del)[^>]*>(.*?)<\/\1>/g)].map(([, tag, text]) => `${tag}: ${text}`),
  };
}

const words = Array.from({ length: 300 }, (_, at) => `word${at}`).join(' ');

it('compares whole texts, however long', () => {
  expect(shown(words, `${words} extra`).marked).toEqual(['ins:  extra']);
});

it('shows texts whole that are too long to be compared', () => {
  const long = `${words} `.repeat(3);
  expect(shown(long, `${long} extra`)).toEqual({ texts: `Expected${long}Output${long} extra`, marked: [] });
});

it('compares nothing that is shortened, and says of how much it shows the beginning', () => {
  const { texts, marked } = shown(words, `${words} extra`, null);
  expect(marked).toEqual([]);
  expect(texts).toContain('… (of 2,289 characters)Output');
});
