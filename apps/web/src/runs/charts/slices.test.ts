import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import { htmlOf } from '../../../test/html-of.ts';
import type { Run } from '../queries.ts';
import { COMMON_KEYS, SliceBars } from './slices.tsx';

/** The names of the bars of a run with these groups of scores, by what they are of. */
function barsOf(groups: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const scores = Object.fromEntries(groups.map((name) => [name, { mean: 0.5, ci95: null, ok: 2 }]));
  const run = { id: 'r', scores: { by_section: scores, by_type: scores, by_tag: scores } } as unknown as Run;
  const html = (key: (typeof COMMON_KEYS)[number]): string => {
    const bars = createElement(SliceBars, { run, of: key, scorer: undefined, onChoose: () => undefined });
    const page = createElement(QueryClientProvider, { client: new QueryClient() }, bars);
    return renderToStaticMarkup(createElement(MantineProvider, null, page));
  };
  return Object.fromEntries(
    COMMON_KEYS.map((key) => [key.label, groups.filter((name) => html(key).includes(`>${name}<`))]),
  );
}

it('draws no chart of one bar, which has the score of the run, but for a tag', () => {
  expect(barsOf(['all'])).toEqual({ section: [], type: [], tag: ['all'] });
  expect(barsOf(['hard', 'easy'])).toEqual({
    section: ['hard', 'easy'],
    type: ['hard', 'easy'],
    tag: ['hard', 'easy'],
  });
});

it('tells a chart that is not read yet from one without bars', async () => {
  const run = { id: 'r', scores: {}, finished_at: null } as unknown as Run;
  const of = { value: '/meta/level', label: 'level' };
  const bars = { run, of, scorer: undefined, onChoose: () => undefined };
  expect(await htmlOf(createElement(SliceBars, bars))).toContain('aria-label="Loading"');
});
