import { describe, expect, it } from 'vitest';
import { convertedLayout } from './layout.ts';

const files = (...paths: string[]): Array<{ path: string; size: number }> =>
  paths.map((path) => ({ path, size: 1 }));

describe('convertedLayout', () => {
  it('subsets and splits are folders, parts follow each other by number', async () => {
    const { layout, partialSplits } = await convertedLayout(
      files(
        'b/test/0000.parquet',
        'b/train-part10/0000.parquet',
        'b/train-part2/0001.parquet',
        'b/train-part2/0000.parquet',
        'a/partial-train/0000.parquet',
        '.gitattributes',
        'a/notes.txt',
        'stray.parquet',
      ),
      {},
    );
    const shape = layout.subsets.map(({ name, splits }) => [
      name,
      splits.map((split) => [split.name, split.files.map(({ path }) => path)]),
    ]);
    expect(shape).toEqual([
      [
        'b',
        [
          [
            'train',
            ['b/train-part2/0000.parquet', 'b/train-part2/0001.parquet', 'b/train-part10/0000.parquet'],
          ],
          ['test', ['b/test/0000.parquet']],
        ],
      ],
      ['a', [['train', ['a/partial-train/0000.parquet']]]],
    ]);
    expect(partialSplits).toEqual(['a/train']);
  });

  it('the default of the card stays the default', async () => {
    const card = { configs: [{ config_name: 'x' }, { config_name: 'y', default: true }] };
    const { layout } = await convertedLayout(files('x/train/0000.parquet', 'y/train/0000.parquet'), card);
    expect(layout.subsets.map(({ name, markedDefault }) => [name, markedDefault])).toEqual([
      ['x', false],
      ['y', true],
    ]);
  });

  it('an empty branch has no subsets', async () => {
    expect((await convertedLayout(files('README.md'), {})).layout.subsets).toEqual([]);
  });
});

it('takes a split of very many files', async () => {
  const files = Array.from({ length: 100_000 }, (_, n) => ({ path: `default/train/${n}.parquet`, size: 1 }));
  const begunMs = performance.now();
  const { layout } = await convertedLayout(files, {});
  expect(layout.subsets[0]!.splits[0]!.files).toHaveLength(100_000);
  expect(performance.now() - begunMs).toBeLessThan(20_000);
});
