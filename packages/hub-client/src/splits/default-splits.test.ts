import { describe, expect, it } from 'vitest';
import { findDefaultSplits } from './default-splits.ts';
import { createPacer } from './pacer.ts';

describe('findDefaultSplits', () => {
  it.each([
    ['data/train-00000-of-00001.parquet', 'train'],
    ['data/odd_name-00000-of-00002-abc.jsonl', 'odd_name'],
    ['data/a-00000-of-00002.b-00001-of-00002.csv', null],
    ['data/x/train-00000-of-00001.csv', 'train'],
    ['data/-00000-of-00001.csv', 'train'],
    ['data/train-00000-of-00001', 'train'],
  ])('%s', async (path, split) => {
    // Two shard marks make a name that cannot be a split's, as the longest match of the pattern.
    const found = findDefaultSplits([path], createPacer());
    if (split === null) await expect(found).rejects.toThrow('invalid split name');
    else expect([...(await found).keys()]).toEqual([split]);
  });

  it('takes names that are made to be cut up in every way', async () => {
    const paths = Array.from(
      { length: 200 },
      (_, n) => `data/${'-00000-of-00000'.repeat(300)}${'.'.repeat(3000)}/${n}.csv`,
    );
    const begunMs = performance.now();
    expect((await findDefaultSplits(paths, createPacer())).get('train')).toHaveLength(200);
    expect(performance.now() - begunMs).toBeLessThan(20_000);
  });
});
