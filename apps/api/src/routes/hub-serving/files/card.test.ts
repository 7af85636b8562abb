import type { DatasetSummary } from '@svc/service/store';
import { expect, it } from 'vitest';
import { cardData } from './card.ts';
import type { HubColumn } from './hub-columns.ts';

it('looks at each column a few times, however many there are', () => {
  let reads = 0;
  const columns = Array.from({ length: 2_000 }, (_, index): HubColumn => {
    return {
      get name() {
        reads += 1;
        return String(index);
      },
      ...{ from: 'meta', key: String(index), type: 'int64' },
    };
  });
  const dataset = { name: 'n' } as DatasetSummary;
  const card = cardData({ repository: 'svc/n', dataset, sections: [], columns, files: [], published: [] });
  const features = columns.map((_, index) => ({ name: String(index), dtype: 'int64' }));
  expect(card['dataset_info']).toMatchObject({ features });
  expect(reads).toBeLessThan(10 * columns.length);
});

it.each([
  [0, 'n<1K'],
  [999, 'n<1K'],
  [1_000, '1K<n<10K'],
  [1_000_000, '1M<n<10M'],
])('names the size of %i items', (itemCount, size) => {
  const facts = { repository: 'svc/n', columns: null, files: [], published: [] };
  const info = { license: 'mit', language: ['en', 'x'.repeat(101)], citation: 'c' };
  const dataset = { name: 'n', schema: JSON.stringify({ source: 'hub', info }) } as DatasetSummary;
  const stored = { sectionHash: new Uint8Array(32), exportFile: null };
  const sections = [{ id: 's', name: 's', itemCount, orderIndex: 0, ...stored }];
  const card = cardData({ ...facts, dataset, sections });
  expect(card).toMatchObject({ license: 'mit', language: ['en'], size_categories: [size] });
});
