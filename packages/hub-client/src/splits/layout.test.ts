import { describe, expect, it } from 'vitest';
import { asMap, type YamlMap } from '../repository/metadata.ts';
import { parseYaml } from '../repository/parse-yaml.ts';
import { layOutFiles } from './layout.ts';
import { chooseSubset, type RepositoryFile, type Subset } from './subset.ts';

const filesOf = (paths: readonly string[]): ReadonlyMap<string, RepositoryFile> =>
  new Map(paths.map((path) => [path, { path, size: 1 }]));
const resolve = (paths: string[], yaml?: string, options?: { repository?: string }) =>
  layOutFiles(filesOf(paths), asMap(parseYaml(yaml ?? '', { file: 'README.md' })) ?? {}, options);
const splitsOf = (subset: Subset): Record<string, string> =>
  Object.fromEntries(subset.splits.map(({ name, files }) => [name, files.map(({ path }) => path).join(' ')]));
const splits = async (paths: string[], yaml?: string): Promise<Record<string, string>> => {
  const [subset] = (await resolve(paths, yaml)).subsets;
  if (subset!.problem !== null) throw subset!.problem;
  return splitsOf(subset!);
};
const unsupported = expect.objectContaining({ code: 'hub_unsupported_dataset' });

describe('splits by file names', () => {
  it.each<[string, string[], Record<string, string>]>([
    ['one file', ['x.csv'], { train: 'x.csv' }],
    [
      'file names',
      ['train.csv', 'valid.csv', 'my-test_1.csv'],
      { train: 'train.csv', validation: 'valid.csv', test: 'my-test_1.csv' },
    ],
    [
      'folders',
      ['data/train/b.csv', 'data/train/a.csv', 'val/x.csv'],
      { train: 'data/train/a.csv data/train/b.csv', validation: 'val/x.csv' },
    ],
    ['better words first', ['dev.csv', 'validation.csv'], { validation: 'validation.csv dev.csv' }],
    ['folders before file names', ['train/a.csv', 'test.csv'], { train: 'train/a.csv' }],
    [
      'shards before everything',
      ['data/train-00000-of-00001.csv', 'test.csv', 'data/test.csv'],
      { train: 'data/train-00000-of-00001.csv' },
    ],
    [
      'any split name in shards, the usual ones first',
      ['zeta', 'alpha', 'test', 'train', 'a.b'].map((name) => `data/${name}-00000-of-00001-0abc.parquet`),
      Object.fromEntries(
        ['train', 'test', 'a.b', 'alpha', 'zeta'].map((name) => [
          name,
          `data/${name}-00000-of-00001-0abc.parquet`,
        ]),
      ),
    ],
    [
      'no shards of six digits',
      ['data/x-000000-of-000001.parquet'],
      { train: 'data/x-000000-of-000001.parquet' },
    ],
    [
      'order by characters, not by numbers',
      ['a_1.csv', 'a_10.csv', 'a_2.csv'],
      { train: 'a_1.csv a_10.csv a_2.csv' },
    ],
    ['no capitals', ['Train.csv', 'TEST.csv'], { train: 'TEST.csv Train.csv' }],
    ['no words inside words', ['trainer.csv', 'contest.csv'], { train: 'contest.csv trainer.csv' }],
    ['a digit ends a word, a parenthesis does not', ['test1.csv', 'train(1).csv'], { test: 'test1.csv' }],
    ['one file in two splits', ['train_test.csv'], { train: 'train_test.csv', test: 'train_test.csv' }],
    ['a file found twice is read once', ['train-train.csv'], { train: 'train-train.csv' }],
    ['hidden files and special folders', ['.x/a.csv', '.a.csv', '__x__/a.csv', 'b.csv'], { train: 'b.csv' }],
    [
      'files of the repository itself',
      ['README.md', 'config.json', 'dataset_infos.json', 'a.jsonl'],
      { train: 'a.jsonl' },
    ],
    ['a folder of notes that hides nothing', ['train/notes.md', 'test.csv'], { test: 'test.csv' }],
    [
      'compressed files',
      ['train.jsonl.gz', 'test.jsonl.zst'],
      { train: 'train.jsonl.gz', test: 'test.jsonl.zst' },
    ],
  ])('%s', async (_, paths, expected) => {
    const found = await splits(paths);
    expect(found).toEqual(expected);
    expect(Object.keys(found)).toEqual(Object.keys(expected));
  });

  it.each([
    [['a.csv', 'b.jsonl', 'c.jsonl'], 'json', 'b.jsonl c.jsonl'],
    [['a.csv', 'b.parquet'], 'parquet', 'b.parquet'],
    [['a.csv', 'b.json', 'c.jsonl'], 'json', 'b.json c.jsonl'],
    [['a.csv', 'x.txt', 'y.txt'], 'text', 'x.txt y.txt'],
    [['a.csv.bak'], 'csv', 'a.csv.bak'],
  ])('%j are %s', async (paths, format, files) => {
    const [subset] = (await resolve(paths)).subsets;
    expect(subset).toMatchObject({ format });
    expect(splitsOf(subset!)).toEqual({ train: files });
  });

  it.each([
    ['no files', []],
    ['no data files', ['LICENSE', 'notes.md', 'data.gz', 'x.CSV']],
    ['splits of different kinds', ['train.csv', 'test.jsonl']],
    ['a shard that names no split', ['data/my-split-00000-of-00001.parquet']],
    ['images', ['train/1.jpg', 'train/2.PNG']],
    ['archives', ['a.zip']],
    ['other compressions', ['train.csv.bz2']],
    ['a compressed parquet file', ['train.parquet.gz']],
  ])('refuses %s', async (_, paths) => {
    await expect(splits(paths)).rejects.toThrow(unsupported);
  });

  it('refuses a dataset with a script of the same name, and no other', async () => {
    await expect(resolve(['set.py', 'a.csv'], undefined, { repository: 'me/set' })).rejects.toThrow(
      unsupported,
    );
    const { subsets } = await resolve(['load.py', 'a.csv'], undefined, { repository: 'me/set' });
    expect(subsets[0]!.problem).toBeNull();
  });

  it('names files that belong to no split', async () => {
    const files = ['train.csv', 'extra.csv', 'LICENSE', 'README.md', '.gitattributes', 'eval.yaml'];
    expect((await resolve(files)).ignoredFiles).toEqual(['LICENSE', 'extra.csv']);
  });
});

describe('splits by metadata', () => {
  const config = (dataFiles: string): string =>
    `configs:\n- config_name: default\n  data_files: ${dataFiles}`;
  it.each<[string, string[], Record<string, string>]>([
    ['b.csv', ['a.csv', 'b.csv'], { train: 'b.csv' }],
    ['[b.csv, a.csv]', ['a.csv', 'b.csv'], { train: 'b.csv a.csv' }],
    [
      '[{split: test, path: a.csv}, {split: train, path: [c.csv, b.csv]}]',
      ['a.csv', 'b.csv', 'c.csv'],
      { test: 'a.csv', train: 'c.csv b.csv' },
    ],
    ['"data/*.csv"', ['data/a.csv', 'data/b.csv', 'data/d/c.csv'], { train: 'data/a.csv data/b.csv' }],
    ['"**/*.csv"', ['x.csv', 'd/e/y.csv', '.h/z.csv'], { train: 'd/e/y.csv x.csv' }],
    ['["*.csv", "a*"]', ['a.csv', 'b.csv', 'a.md'], { train: 'a.csv b.csv' }],
    ['./d/../../x.csv', ['x.csv'], {}],
    ['./a.csv', ['a.csv'], { train: 'a.csv' }],
    ['.hidden/*.csv', ['.hidden/a.csv', 'b.csv'], { train: '.hidden/a.csv' }],
    ['__x__/*.csv', ['__x__/a.csv'], { train: '__x__/a.csv' }],
    ['config.json', ['config.json'], { train: 'config.json' }],
    ['[{split: a, path: x.csv}, {split: b, path: x.csv}]', ['x.csv'], { a: 'x.csv', b: 'x.csv' }],
  ])('data_files: %s', async (dataFiles, paths, expected) => {
    if (Object.keys(expected).length === 0)
      await expect(splits(paths, config(dataFiles))).rejects.toThrow(unsupported);
    else expect(await splits(paths, config(dataFiles))).toEqual(expected);
  });

  it.each([
    ['a path that is missing', 'missing.csv'],
    ['a pattern that finds nothing', '"x/*.csv"'],
    ['a split without files', '[{split: train, path: a.csv}, {split: test, path: "t/*.csv"}]'],
    ['braces', '"{a,b}.csv"'],
    ['two stars inside a name', '"**.csv"'],
    ['a map', '{train: a.csv}'],
    ['a dash in a split name', '[{split: my-split, path: a.csv}]'],
    ['a number as split', '[{split: 2020, path: a.csv}]'],
    ['an extra key', '[{split: train, path: a.csv, sep: x}]'],
    ['a duplicate split', '[{split: a, path: a.csv}, {split: a, path: a.csv}]'],
    ['texts and maps mixed', '[a.csv, {split: test, path: a.csv}]'],
    ['an absolute path', '/a.csv'],
    ['a path out of the repository', '../a.csv'],
    ['a hidden way out', 'd/../../a.csv'],
    ['a web address', 'https://example.org/a.csv'],
    ['a file address', 'file:///etc/passwd.csv'],
    ['another repository', 'hf://datasets/x/y/a.csv'],
    ['a chained address', '"zip://a.csv::b.zip"'],
    ['a drive', '"C:\\\\a.csv"'],
    ['a number', '5'],
  ])('refuses %s', async (_, dataFiles) => {
    await expect(splits(['a.csv', 'b.csv'], config(dataFiles))).rejects.toThrow(unsupported);
  });

  it.each(['https://example.org/x', '..', '/etc', 'hf://datasets/x', '5'])(
    'refuses %s as data_dir',
    async (folder) => {
      await expect(
        splits(['a.csv'], `configs:\n- config_name: default\n  data_dir: ${folder}`),
      ).rejects.toThrow(unsupported);
    },
  );

  it('looks for splits and files inside data_dir', async () => {
    const files = ['a/train.csv', 'a/test.csv', 'b/data/train-00000-of-00001.csv', 'train.csv'];
    const { subsets, ignoredFiles } = await resolve(
      files,
      'configs:\n- {config_name: a, data_dir: a}\n- {config_name: b, data_dir: b/}\n- {config_name: c, data_dir: a, data_files: te*.csv}',
    );
    expect(subsets.map(splitsOf)).toEqual([
      { train: 'a/train.csv', test: 'a/test.csv' },
      { train: 'b/data/train-00000-of-00001.csv' },
      { train: 'a/test.csv' },
    ]);
    expect(ignoredFiles).toEqual(['train.csv']);
  });

  it('gives each subset its own format, parameters, features and counts', async () => {
    const { subsets, card } = await resolve(
      ['a.csv', 'b.jsonl'],
      [
        'license: mit',
        'configs:',
        '- {config_name: one, data_files: a.csv, sep: ";"}',
        '- {config_name: two, data_files: b.jsonl}',
        'dataset_info:',
        '- config_name: two',
        '  features: [{name: x, dtype: int64}]',
        '  splits: [{name: train, num_examples: 7}]',
      ].join('\n'),
    );
    expect(subsets).toMatchObject([
      {
        name: 'one',
        format: 'csv',
        params: { sep: ';' },
        declaredFeatures: null,
        splits: [{ declaredRows: null }],
      },
      {
        name: 'two',
        format: 'json',
        params: {},
        declaredFeatures: [{ name: 'x', dtype: 'int64' }],
        splits: [{ declaredRows: 7 }],
      },
    ]);
    expect(card['license']).toBe('mit');
  });

  it('lets one broken subset be', async () => {
    const layout = await resolve(
      ['a.csv'],
      'configs:\n- {config_name: bad, data_files: b.csv}\n- {config_name: good, data_files: a.csv}',
    );
    expect(chooseSubset(layout, 'good').name).toBe('good');
    expect(() => chooseSubset(layout, 'bad')).toThrow(unsupported);
  });

  it.each([
    'configs: {config_name: x}',
    'configs:\n- data_files: a.csv',
    'configs:\n- config_name: 5',
    'configs: [x]',
  ])('refuses %j', async (yaml) => {
    await expect(resolve(['a.csv'], yaml)).rejects.toThrow(unsupported);
  });

  it('gives up on patterns that would take minutes', async () => {
    const paths = Array.from({ length: 2000 }, (_, index) => `${'a'.repeat(200)}${index}.csv`);
    const pattern = `"${'*a'.repeat(100)}b*"`;
    const list = Array.from({ length: 200 }, () => pattern).join(', ');
    await expect(splits(paths, config(`[${list}]`))).rejects.toThrow(unsupported);
  });
});

describe('chooseSubset', () => {
  const choose = async (yaml: string, name?: string): Promise<Subset> =>
    chooseSubset(await resolve(['a.csv', 'b.csv'], `configs:\n${yaml}`), name);
  it.each([
    ['- {config_name: only, data_files: a.csv}', 'only'],
    ['- {config_name: x, data_files: a.csv}\n- {config_name: default, data_files: b.csv}', 'default'],
    ['- {config_name: x, data_files: a.csv, default: true}\n- {config_name: y, data_files: b.csv}', 'x'],
    ['- {config_name: x, data_files: a.csv}\n- {config_name: x, data_files: b.csv}', 'x'],
  ])('takes the default of\n%s', async (yaml, name) => {
    expect((await choose(yaml)).name).toBe(name);
  });

  it('lists the subsets where none is the default, several are, or the name is unknown', async () => {
    const two =
      '- {config_name: x, data_files: a.csv}\n- {config_name: y, data_files: b.csv, default: false}';
    const notFound = expect.objectContaining({
      code: 'hub_subset_not_found',
      details: { available: ['x', 'y'] },
    });
    await expect(choose(two)).rejects.toThrow(notFound);
    await expect(choose(two, 'z')).rejects.toThrow(notFound);
    expect((await choose(two, 'y')).name).toBe('y');
    const defaults =
      '- {config_name: x, data_files: a.csv, default: true}\n- {config_name: default, data_files: b.csv}';
    await expect(choose(defaults)).rejects.toThrow(expect.objectContaining({ code: 'hub_subset_not_found' }));
  });

  it('ignores an empty list of subsets', async () => {
    expect(chooseSubset(await resolve(['a.csv'], 'configs: []')).name).toBe('default');
    expect(chooseSubset(await resolve(['a.csv'], 'configs:\ndataset_info: {config_name: other}')).name).toBe(
      'default',
    );
  });
});

describe('cards that cost more than they are long', () => {
  const files = filesOf(Array.from({ length: 20_000 }, (_, n) => `folder/train-${n}.csv`));
  const card = (config: object): YamlMap => {
    return { configs: Array.from({ length: 5000 }, (_, n) => ({ config_name: `c${n}`, ...config })) };
  };

  it.each([
    ['subsets without patterns', {}],
    ['subsets with patterns for all files', { data_files: '**/*x*y*' }],
    ['subsets of a folder', { data_dir: 'folder' }],
  ])('%s are refused, not matched', async (_name, config) => {
    const begunMs = performance.now();
    const { subsets } = await layOutFiles(files, card(config));
    // 5,000 times 20,000 names take minutes.
    expect(performance.now() - begunMs).toBeLessThan(30_000);
    expect(subsets.at(-1)!.problem?.message).toBe(
      'The card has too many subsets and patterns for this number of files.',
    );
  });
});
