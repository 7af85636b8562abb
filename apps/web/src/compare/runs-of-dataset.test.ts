import { createElement } from 'react';
import { expect, it } from 'vitest';
import { htmlOf } from '../../test/html-of.ts';
import RunsOfDataset from './runs-of-dataset.tsx';

const run = (id: string) => ({
  ...{ id, name: id, dataset_id: 'd', config: {}, cost: null },
  ...{ counts: { done: 1, total: 1 }, scores: { mean: 0.5, ci95: null } },
});

const htmlOfRuns = (total: number): Promise<string> => {
  const runs = [run('a'), run('b')];
  const part = createElement(RunsOfDataset, {
    runs: runs as never,
    against: undefined,
    onAgainst: () => undefined,
  });
  const list = { data: runs, meta: { total_items: total } };
  return htmlOf(part, [[['runs', { dataset_id: 'd', limit: 40 }], list]]);
};

it('does not say that runs took nothing before it has read what they took', async () => {
  const html = await htmlOfRuns(2);
  expect(html).toContain('aria-label="Loading"');
  expect(html).not.toContain('Fewer than two runs');
});

it('says where it draws the newest runs only', async () => {
  expect(await htmlOfRuns(2)).toContain('All runs of the dataset');
  expect(await htmlOfRuns(41)).toContain('The newest 40 runs of the dataset');
});
