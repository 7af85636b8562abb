import type { DatasetSummary } from '@svc/store';
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
  const card = cardData({ repository: 'svc/n', dataset, sections: [], columns, files: [] });
  const features = columns.map((_, index) => ({ name: String(index), dtype: 'int64' }));
  expect(card['dataset_info']).toMatchObject({ features });
  expect(reads).toBeLessThan(10 * columns.length);
});
