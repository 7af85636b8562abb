import { createElement } from 'react';
import { expect, it } from 'vitest';
import { htmlOf } from '../../test/html-of.ts';
import { JobProgress } from './job-progress.tsx';

it('says how many items an import has stored, which may be fewer than its rows', async () => {
  const progress = { rows_done: 120, rows_total: 120, bytes_done: 0, bytes_total: null };
  const job = {
    id: 'j',
    status: 'succeeded',
    dataset_id: 'd',
    finished_at: '2026-01-01T00:00:00Z',
    progress,
  };
  const html = await htmlOf(createElement(JobProgress, { id: 'j' }), [
    [['job', 'j'], job],
    [['dataset', 'd', null], { item_count: 119 }],
  ]);
  expect(html).toContain('Stored 119 items');
  expect(html).toContain('120 of 120 rows');
});
