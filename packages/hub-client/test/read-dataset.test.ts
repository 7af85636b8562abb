import { gzipSync, zstdCompressSync } from 'node:zlib';
import { ExactNumber, type JsonObject } from '@svc/jsonl-v23/json';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeParquet } from '../../tabular/test/write-parquet.ts';
import {
  createHubClient,
  type HubClient,
  type HubClientOptions,
  HubError,
  type OpenDatasetOptions,
  type SplitReader,
} from '../src/index.ts';
import { type FakeHub, type FakeRepository, startFakeHub } from './fake-hub.ts';

let hub: FakeHub;
let client: HubClient;

beforeEach(async () => {
  hub = await startFakeHub();
  client = clientFor(hub);
});
afterEach(async () => {
  await client.close();
  await hub.close();
});

function clientFor(target: FakeHub, options: HubClientOptions = {}): HubClient {
  return createHubClient({
    endpoint: target.endpoint,
    retry: { maxRetries: 2, baseDelayMs: 1, maxDelayMs: 2 },
    ...options,
  });
}

async function select(
  path: string,
  choice: { subset?: string; split?: string } = {},
  options: Partial<OpenDatasetOptions> = {},
): Promise<SplitReader> {
  return await (await client.openDataset({ path, ...options })).select(choice);
}

async function rowsOf(selection: SplitReader, columns?: string[], limit?: number): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  for await (const { row } of selection.rows({ columns, limit })) rows.push(row);
  return rows;
}

async function failure(work: Promise<unknown>): Promise<HubError> {
  return await work.then(
    () => {
      throw new Error('did not fail');
    },
    (error: HubError) => error,
  );
}

const dtypes = (selection: SplitReader): Record<string, string> =>
  Object.fromEntries(selection.features.map(({ name, dtype }) => [name, dtype]));

const lines = (...rows: unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

function arithmetic(name: string, count: number): FakeRepository['files'][string] {
  const numbers = Array.from({ length: count }, (_, index) => index);
  return writeParquet({
    columns: [
      { name: 'question', data: numbers.map((n) => `${name}: ${n} + ${n}?`), type: 'STRING' },
      { name: 'answer', data: numbers.map((n) => String(n + n)), type: 'STRING' },
    ],
    features: {
      question: { dtype: 'string', _type: 'Value' },
      answer: { dtype: 'string', _type: 'Value' },
    },
    rowGroupSize: 40,
  });
}

const GSM_CARD = `---
license: mit
pretty_name: Grade School Math
configs:
- config_name: main
  data_files:
  - {split: train, path: main/train-*}
  - {split: test, path: main/test-*}
- config_name: socratic
  data_files:
  - {split: train, path: socratic/train-*}
  - {split: test, path: socratic/test-*}
dataset_info:
- config_name: main
  features:
  - {name: question, dtype: string}
  - {name: answer, dtype: string}
  splits:
  - {name: train, num_bytes: 1, num_examples: 120}
  - {name: test, num_bytes: 1, num_examples: 50}
- config_name: socratic
  features:
  - {name: question, dtype: string}
  - {name: answer, dtype: string}
  splits:
  - {name: train, num_bytes: 1, num_examples: 70}
---
# Grade School Math
`;

const gsm = (): FakeRepository => ({
  id: 'school/math',
  files: {
    'README.md': GSM_CARD,
    'main/train-00000-of-00001.parquet': arithmetic('main', 120),
    'main/test-00000-of-00001.parquet': arithmetic('main test', 50),
    'socratic/train-00000-of-00001.parquet': arithmetic('socratic', 70),
    'socratic/test-00000-of-00001.parquet': arithmetic('socratic test', 30),
    'notes.txt': 'nothing',
  },
  info: { description: '\n\tSums for schools. ', citation: '@misc{sums}', tags: ['language:en'] },
});

describe('a Parquet dataset with two subsets', () => {
  beforeEach(() => hub.add(gsm()));

  it.each<[unknown, string]>([
    [-1, 'RangeError: limit must be a non-negative integer, got -1.'],
    [Number.NaN, 'RangeError: limit must be a non-negative integer, got NaN.'],
    ['x', 'TypeError: limit must be a non-negative integer, got a value of the type string.'],
  ])('refuses to read at most %s rows', async (limit, message) => {
    const dataset = await client.openDataset({ path: 'school/math' });
    const selection = await dataset.select({ subset: 'main' });
    const rows = selection.rows({ limit: limit as number });
    expect(String(await rows.next().catch((error: unknown) => error))).toBe(message);
  });

  it('tells what there is', async () => {
    const dataset = await client.openDataset({ path: 'school/math' });
    expect(dataset).toMatchObject({
      id: 'school/math',
      revision: 'main',
      resolvedRevision: hub.commitOf('school/math'),
      subsets: ['main', 'socratic'],
      defaultSubset: null,
      usedConvertedParquet: false,
    });
    expect(dataset.info).toMatchObject({
      description: 'Sums for schools.',
      citation: '@misc{sums}',
      homepage: null,
      license: 'mit',
      pretty_name: 'Grade School Math',
      ignored_files: ['notes.txt'],
    });
    expect(dataset.splits).toEqual([
      { subset: 'main', split: 'train', numRows: 120 },
      { subset: 'main', split: 'test', numRows: 50 },
      { subset: 'socratic', split: 'train', numRows: 70 },
      { subset: 'socratic', split: 'test', numRows: null },
    ]);
  });

  it('needs a subset named, and lists them', async () => {
    const error = await failure(select('school/math'));
    expect(error).toMatchObject({
      code: 'hub_subset_not_found',
      details: { available: ['main', 'socratic'] },
    });
  });

  it.each([
    [undefined, 120, 0, 'main'],
    ['train[:5]', 5, 0, 'main'],
    ['train[-5:]', 5, 115, 'main'],
    ['train[10%:20%]', 12, 12, 'main'],
    ['train[38:42]', 4, 38, 'main'],
    ['train[100:5000]', 20, 100, 'main'],
  ])('reads %s', async (split, count, first, word) => {
    const selection = await select('school/math', { subset: 'main', ...(split && { split }) });
    expect(selection.numRows).toBe(count);
    const found: number[] = [];
    for await (const { row, rowIndex, split: name } of selection.rows()) {
      expect(row).toEqual({ question: `${word}: ${rowIndex} + ${rowIndex}?`, answer: String(2 * rowIndex) });
      expect(name).toBe('train');
      found.push(rowIndex);
    }
    expect(found).toEqual(Array.from({ length: count }, (_, index) => first + index));
  });

  it('reads a sum in its written order, with the rows of each split', async () => {
    const selection = await select('school/math', { subset: 'main', split: 'test[:2]+train[:1]+test[1:3]' });
    expect(selection.numRows).toBe(5);
    const found: unknown[] = [];
    for await (const { rowIndex, split } of selection.rows()) found.push([split, rowIndex]);
    expect(found).toEqual([
      ['test', 0],
      ['test', 1],
      ['train', 0],
      ['test', 1],
      ['test', 2],
    ]);
  });

  it('reads only the columns that are asked for, and as many rows', async () => {
    const selection = await select('school/math', { subset: 'socratic' });
    expect(await rowsOf(selection, ['answer'], 2)).toEqual([{ answer: '0' }, { answer: '2' }]);
  });

  it('refuses columns that do not exist, before it requests a byte', async () => {
    const selection = await select('school/math', { subset: 'main', split: 'test' });
    const before = hub.totalBytes();
    for (const read of [selection.rows, selection.rowBatches]) {
      const error = await failure(read({ columns: ['answer', 'anwser'] }).next());
      expect(error).toBeInstanceOf(HubError);
      expect(error).toMatchObject({
        code: 'column_not_found',
        message: 'Column "anwser" not found: the dataset has "question", "answer"',
        details: { available: ['question', 'answer'] },
      });
    }
    expect(hub.totalBytes()).toBe(before);
  });

  it.each<[unknown, string]>([
    ['answer', 'columns must be an array of strings, got a value of the type string.'],
    [null, 'columns must be an array of strings, got null.'],
    [['answer', 5], 'columns[1] must be a string, got a value of the type number.'],
    [[undefined], 'columns[0] must be a string, got a value of the type undefined.'],
  ])('refuses the columns %j', async (columns, message) => {
    const selection = await select('school/math', { subset: 'main', split: 'test' });
    for (const read of [selection.rows, selection.rowBatches]) {
      expect(await failure(read({ columns: columns as never }).next())).toEqual(new TypeError(message));
    }
  });

  it('ends before the next row when its signal, or that of the selection, is aborted', async () => {
    for (const isOwn of [true, false]) {
      const stop = new AbortController();
      const dataset = await client.openDataset({ path: 'school/math' });
      const selection = await dataset.select({
        subset: 'main',
        split: 'train',
        ...(!isOwn && { signal: stop.signal }),
      });
      let count = 0;
      const reading = async (): Promise<void> => {
        for await (const _ of selection.rows(isOwn ? { signal: stop.signal } : {})) {
          count += 1;
          if (count === 5) stop.abort(new Error('enough'));
        }
      };
      expect((await failure(reading())).message).toBe('enough');
      expect(count).toBe(5);
    }
  });

  it('suggests a mapping', async () => {
    const selection = await select('school/math', { subset: 'main' });
    expect(selection.suggestedMapping).toEqual({ promptColumn: 'question', answerColumn: 'answer' });
  });

  it.each([
    [{ subset: 'none' }, 'hub_subset_not_found'],
    [{ subset: 'main', split: 'dev' }, 'hub_split_not_found'],
    [{ subset: 'main', split: 'dev[10%:]' }, 'hub_split_not_found'],
    [{ subset: 'main', split: 'train + test' }, 'invalid_split'],
    [{ subset: 'main', split: 'train[5:5]' }, 'invalid_split'],
    [{ subset: 'main', split: 'train[500:600]' }, 'invalid_split'],
  ])('refuses %j with %s', async (choice, code) => {
    expect((await failure(select('school/math', choice))).code).toBe(code);
  });
});

describe('the location of rows', () => {
  const repository = (id: string, files: FakeRepository['files']): void => hub.add({ id, files });

  it('JSON Lines without a card: numbers stay exact, counts are counted', async () => {
    repository('o/lines', {
      'train.jsonl': '{"q":"a","n":9007199254740993}\n\n{"q":"b","extra":[1.50]}\n',
      'test.jsonl': lines({ q: 'c', n: 1 }),
    });
    const selection = await select('o/lines');
    expect(selection).toMatchObject({ subset: 'default', split: 'train', numRows: 2 });
    expect(dtypes(selection)).toEqual({ q: 'string', n: 'int64', extra: 'list<float64>' });
    const rows = await rowsOf(selection);
    expect(rows).toMatchObject([
      { q: 'a', extra: null },
      { q: 'b', n: null },
    ]);
    expect(rows[0]?.['n']).toBeInstanceOf(ExactNumber);
    expect(String(rows[0]?.['n'])).toBe('9007199254740993');
  });

  it('a CSV file whose numbers lose their spelling, with a warning', async () => {
    repository('o/codes', { 'data.csv': 'zip,n\n01234,1\n1e5,2\n' });
    const selection = await select('o/codes');
    expect(selection.info['warnings']).toEqual([
      'The numbers of column "zip" lose their spelling: "01234" becomes 1234.',
    ]);
    expect(await rowsOf(selection)).toEqual([
      { zip: 1234, n: 1 },
      { zip: 100000, n: 2 },
    ]);
  });

  it.each([
    ['gzip', 'gz', (text: string) => gzipSync(text)],
    ['zstd', 'zst', (text: string) => zstdCompressSync(text)],
  ])('JSON Lines as %s', async (_name, suffix, compress) => {
    const rows = Array.from({ length: 300 }, (_, index) => ({ index, word: `w${index}` }));
    repository('o/packed', { [`train.jsonl.${suffix}`]: compress(lines(...rows)) });
    const selection = await select('o/packed', { split: 'train[100:200]' });
    expect(selection.numRows).toBe(100);
    expect(await rowsOf(selection)).toEqual(rows.slice(100, 200));
  });

  it('a compressed file that is none is named', async () => {
    repository('o/bad', { 'train.jsonl.gz': 'plain text' });
    expect(await failure(select('o/bad'))).toMatchObject({
      code: 'hub_bad_response',
      location: { file: 'train.jsonl.gz' },
    });
  });

  it('files of one split follow each other, columns are united and missing ones are null', async () => {
    repository('o/many', {
      'data/train-00000-of-00003.jsonl': lines({ a: 1 }, { a: 2 }),
      'data/train-00001-of-00003.jsonl': lines({ b: 'x' }),
      'data/train-00002-of-00003.jsonl': lines({ a: 4, b: 'y' }),
    });
    const selection = await select('o/many', { split: 'train[1:]' });
    expect(selection.numRows).toBe(3);
    const found: unknown[] = [];
    for await (const { row, rowIndex } of selection.rows()) found.push([rowIndex, row]);
    expect(found).toEqual([
      [1, { a: 2, b: null }],
      [2, { a: null, b: 'x' }],
      [3, { a: 4, b: 'y' }],
    ]);
  });

  it('shards of Parquet follow each other, with several row groups each', async () => {
    const shard = (first: number, count: number): Uint8Array =>
      writeParquet({
        columns: [{ name: 'n', data: Array.from({ length: count }, (_, i) => first + i), type: 'INT32' }],
        rowGroupSize: 30,
      });
    repository('o/shards', {
      'data/train-00000-of-00003.parquet': shard(0, 100),
      'data/train-00001-of-00003.parquet': shard(100, 70),
      'data/train-00002-of-00003.parquet': shard(170, 30),
    });
    for (const [split, from, to] of [
      ['train', 0, 200],
      ['train[95:105]', 95, 105],
      ['train[-31:]', 169, 200],
      ['train[99%:]', 198, 200],
      ['train[:100]', 0, 100],
    ] as const) {
      const selection = await select('o/shards', { split });
      expect(selection.numRows).toBe(to - from);
      const found: number[] = [];
      for await (const { row, rowIndex } of selection.rows()) {
        expect(row).toEqual({ n: rowIndex });
        found.push(rowIndex);
      }
      expect(found).toEqual(Array.from({ length: to - from }, (_, index) => from + index));
    }
  });

  it('shards with other columns are united', async () => {
    repository('o/other', {
      'data/train-00000-of-00002.parquet': writeParquet({
        columns: [{ name: 'a', data: [1, 2], type: 'INT32' }],
      }),
      'data/train-00001-of-00002.parquet': writeParquet({
        columns: [
          { name: 'b', data: ['x'], type: 'STRING' },
          { name: 'a', data: [0.5], type: 'DOUBLE' },
        ],
      }),
    });
    const selection = await select('o/other');
    expect(dtypes(selection)).toEqual({ a: 'float64', b: 'string' });
    expect(await rowsOf(selection)).toEqual([
      { a: 1, b: null },
      { a: 2, b: null },
      { a: 0.5, b: 'x' },
    ]);
  });

  it('a line that cannot be read is named, after the rows before it', async () => {
    repository('o/broken', { 'train.jsonl': `${lines({ a: 1 }, { a: 2 })}{"a":\n` });
    const selection = await select('o/broken');
    expect(await rowsOf(selection, ['a'], 2)).toEqual([{ a: 1 }, { a: 2 }]);
    expect(await failure(rowsOf(selection))).toMatchObject({
      code: 'invalid_row',
      location: { file: 'train.jsonl', line: 3 },
    });
  });

  it('a row at which looking for columns ended is known beforehand', async () => {
    repository('o/first-broken', { 'train.jsonl': `{"a":\n${lines({ a: 1 })}` });
    const { features, unreadRow } = await select('o/first-broken');
    expect(features).toEqual([]);
    expect(unreadRow).toMatchObject({ code: 'invalid_row', location: { file: 'train.jsonl', line: 1 } });
    repository('o/whole', { 'train.jsonl': lines({ a: 1 }) });
    expect((await select('o/whole')).unreadRow).toBeUndefined();
  });

  it('names of columns and paths may be anything', async () => {
    repository('o/odd', { 'da ta/#1?.jsonl': '{"__proto__":1,"a.b":2}\n' });
    const selection = await select('o/odd');
    const [row] = await rowsOf(selection);
    expect(Object.entries(row!)).toEqual([
      ['__proto__', 1],
      ['a.b', 2],
    ]);
  });
});

describe('cells of Parquet', () => {
  it('images become bytes and path, labels their names', async () => {
    const png = Buffer.from('89504e470d0a1a0a', 'hex');
    hub.add({
      id: 'o/pictures',
      files: {
        'train.parquet': writeParquet({
          columns: [
            { name: 'image', data: [{ bytes: png, path: 'a.png' }, { bytes: null, path: 'b.png' }, null] },
            { name: 'label', data: [1n, 0n, -1n] },
          ],
          schema: [
            { name: 'root', num_children: 2 },
            { name: 'image', num_children: 2, repetition_type: 'OPTIONAL' },
            { name: 'bytes', type: 'BYTE_ARRAY', repetition_type: 'OPTIONAL' },
            { name: 'path', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
            { name: 'label', type: 'INT64', repetition_type: 'OPTIONAL' },
          ],
          features: { image: { _type: 'Image' }, label: { names: ['cat', 'dog'], _type: 'ClassLabel' } },
        }),
      },
    });
    const selection = await select('o/pictures');
    expect(dtypes(selection)).toEqual({ image: 'image', label: 'int64' });
    expect(selection.info['class_labels']).toEqual({ label: ['cat', 'dog'] });
    expect(await rowsOf(selection)).toEqual([
      { image: { bytes: png.toString('base64'), path: 'a.png' }, label: 'dog' },
      { image: { bytes: null, path: 'b.png' }, label: 'cat' },
      { image: null, label: null },
    ]);
  });

  it('names the class labels within lists and structs by their paths', async () => {
    const names = ['cat', 'dog'];
    const label = { names, _type: 'ClassLabel' };
    hub.add({
      id: 'o/nested',
      files: {
        'train.parquet': writeParquet({
          columns: [{ name: 's', data: [{ l: [1n, -1n] }] }],
          schema: [
            { name: 'root', num_children: 1 },
            { name: 's', num_children: 1, repetition_type: 'OPTIONAL' },
            { name: 'l', num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
            { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
            { name: 'element', type: 'INT64', repetition_type: 'OPTIONAL' },
          ],
          features: { s: { l: { _type: 'List', feature: label } } },
        }),
      },
    });
    const selection = await select('o/nested');
    expect(dtypes(selection)).toEqual({ s: 'struct<l: list<int64>>' });
    expect(selection.info['class_labels']).toEqual({ 's.l[]': names });
    expect(await rowsOf(selection)).toEqual([{ s: { l: ['dog', null] } }]);
  });
});

describe('datasets whose files cannot be read', () => {
  const copies: Record<string, string | Uint8Array> = {
    'default/train/0000.parquet': arithmetic('copy', 10) as Uint8Array,
    'default/train/0001.parquet': arithmetic('copy', 5) as Uint8Array,
    'default/partial-test/0000.parquet': arithmetic('copy', 3) as Uint8Array,
  };

  it.each([
    ['that need a script', { 'scripted.py': 'print()' }],
    ['of a format that is not read', { 'train.arrow': 'ARROW1' }],
    ['without data files', { 'README.md': '# empty' }],
  ])('%s are read from the copies', async (_name, files) => {
    hub.add({ id: 'o/scripted', files, revisions: { 'refs/convert/parquet': copies } });
    const selection = await select('o/scripted', { split: 'train[9:11]' });
    expect(selection.info).toMatchObject({
      converted_parquet: true,
      converted_revision: hub.commitOf('o/scripted', 'refs/convert/parquet'),
      partial: ['test'],
    });
    expect((await rowsOf(selection)).map((row) => row['answer'])).toEqual(['18', '0']);
  });

  it('without copies are refused', async () => {
    hub.add({ id: 'o/scripted', files: { 'scripted.py': 'print()' } });
    expect((await failure(select('o/scripted'))).code).toBe('hub_unsupported_dataset');
  });

  it('at another revision are refused: copies are made of the default branch', async () => {
    hub.add({
      id: 'o/scripted',
      files: {},
      revisions: { old: { 'scripted.py': '' }, 'refs/convert/parquet': copies },
    });
    const error = await failure(select('o/scripted', {}, { revision: 'old' }));
    expect(error.code).toBe('hub_unsupported_dataset');
  });

  it('a card that leads elsewhere is refused', async () => {
    hub.add({
      id: 'o/evil',
      files: {
        'README.md': '---\nconfigs:\n- config_name: x\n  data_files: http://169.254.169.254/a.csv\n---\n',
      },
    });
    expect((await failure(select('o/evil'))).code).toBe('hub_unsupported_dataset');
    expect(hub.requests.every(({ origin }) => origin === 'hub')).toBe(true);
  });
});

describe('the dataset card', () => {
  const configs = (name: string): string =>
    `---\nconfigs:\n- {config_name: ${name}, data_files: '*.jsonl'}\n---\n`;

  it('is taken from the metadata of the hub if it describes files, and from the file at other revisions', async () => {
    hub.add({
      id: 'o/card',
      files: { 'README.md': configs('now'), 'a.jsonl': lines({ a: 1 }) },
      revisions: { 'refs/tags/v1': { 'README.md': configs('then'), 'a.jsonl': lines({ a: 0 }) } },
      info: {
        cardData: {
          configs: [{ config_name: 'now', data_files: '*.jsonl' }],
          license: ['mit', 'apache-2.0'],
        },
      },
    });
    const now = await client.openDataset({ path: 'o/card' });
    expect(now.subsets).toEqual(['now']);
    expect(now.info['license']).toEqual(['mit', 'apache-2.0']);
    expect(hub.requests.some(({ path }) => path.includes('README'))).toBe(false);
    expect((await client.openDataset({ path: 'o/card', revision: 'v1' })).subsets).toEqual(['then']);
  });

  it('goes before what the file .huggingface.yaml replaces, and eval.yaml suggests the mapping', async () => {
    hub.add({
      id: 'o/card',
      files: {
        'README.md': configs('card'),
        '.huggingface.yaml': 'configs:\n- {config_name: yaml, data_files: "*.jsonl"}\n',
        'eval.yaml': 'tasks:\n- {id: t, config: yaml, split: train, field_spec: {input: a, target: b}}\n',
        'a.jsonl': lines({ question: 'q', a: 'x', b: 'y' }),
      },
    });
    const selection = await select('o/card');
    expect(selection.subset).toBe('yaml');
    expect(selection.suggestedMapping).toEqual({ promptColumn: 'a', answerColumn: 'b' });
  });

  it('types columns, and its counts are claims', async () => {
    const card = [
      '---',
      'dataset_info:',
      '  features:',
      '  - {name: label, dtype: {class_label: {names: {"0": no, "1": yes}}}}',
      '  - {name: only_declared, dtype: string}',
      '  splits:',
      '  - {name: train, num_bytes: 1, num_examples: 99}',
      '---',
    ].join('\n');
    hub.add({
      id: 'o/card',
      files: { 'README.md': card, 'train.jsonl': lines({ label: 1 }, { label: -1 }) },
    });
    const dataset = await client.openDataset({ path: 'o/card' });
    expect(dataset.splits).toEqual([{ subset: 'default', split: 'train', numRows: 99 }]);
    const selection = await dataset.select();
    expect(selection.numRows).toBe(2);
    expect(await rowsOf(selection)).toEqual([
      { label: 'yes', only_declared: null },
      { label: null, only_declared: null },
    ]);
  });

  it('warns of a type that a Parquet file does not store', async () => {
    const card = '---\ndataset_info:\n  features:\n  - {name: n, dtype: string}\n---\n';
    const file = writeParquet({ columns: [{ name: 'n', data: [0, 1], type: 'INT32' }] });
    hub.add({ id: 'o/card', files: { 'README.md': card, 'train.parquet': file } });
    const selection = await select('o/card');
    expect(await rowsOf(selection)).toEqual([{ n: 0 }, { n: 1 }]);
    expect(selection.info['warnings']).toEqual([
      expect.stringMatching(/declared as string, but stored as int32/),
    ]);
  });
});

describe('splits without rows', () => {
  it.each([
    ['empty.jsonl', '', []],
    ['empty.csv', 'a,b\n', ['a', 'b']],
    ['header.tsv', 'a\tb', ['a', 'b']],
    ['nothing.csv', '', []],
    ['empty.parquet', writeParquet({ columns: [{ name: 'a', data: [], type: 'INT32' }] }), ['a']],
  ])('%s is read as none', async (name, content, columns) => {
    hub.add({ id: 'o/empty', files: { [name]: content } });
    const selection = await select('o/empty');
    expect(selection.numRows).toBe(0);
    expect(selection.features.map((feature) => feature.name)).toEqual(columns);
    expect(await rowsOf(selection)).toEqual([]);
  });
});

describe('large text files', () => {
  const line = (n: number): string => `${JSON.stringify({ n, text: 'x'.repeat(1000) })}\n`;
  const text = Array.from({ length: 17_000 }, (_, n) => line(n)).join('');

  it('are read to the end of the slice, without counting them', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': text } });
    const selection = await select('o/text', { split: 'train[5:7]' });
    expect(selection.numRows).toBe(2);
    expect((await rowsOf(selection)).map(({ n }) => n)).toEqual([5, 6]);
    const sliceBytes = hub.totalBytes();
    expect(sliceBytes).toBeLessThan(text.length);
    expect((await select('o/text')).numRows).toBeNull();
    expect(hub.totalBytes() - sliceBytes).toBeLessThan(text.length);
  });

  it('are counted where the slice needs it', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': text } });
    const selection = await select('o/text', { split: 'train[-2:]' });
    expect(selection.numRows).toBe(2);
    const found: number[] = [];
    for await (const { rowIndex } of selection.rows()) found.push(rowIndex);
    expect(found).toEqual([16_998, 16_999]);
  });

  it('a slice after the last row is refused once that is known', async () => {
    hub.add({ id: 'o/text', files: { 'train.jsonl': text } });
    const selection = await select('o/text', { split: 'train[20000:]' });
    expect(selection.numRows).toBeNull();
    expect((await failure(rowsOf(selection))).code).toBe('invalid_split');
  });
});

describe('revisions', () => {
  beforeEach(() =>
    hub.add({
      id: 'o/versions',
      files: { 'train.jsonl': lines({ v: 2 }) },
      revisions: {
        'refs/tags/v1': { 'train.jsonl': lines({ v: 1 }) },
        'refs/pr/1': { 'train.jsonl': lines({ v: 3 }) },
      },
    }),
  );

  it.each([
    [undefined, 2],
    ['main', 2],
    ['v1', 1],
    ['refs/pr/1', 3],
  ])('%s', async (revision, v) => {
    const dataset = await client.openDataset({ path: 'o/versions', revision });
    expect(await rowsOf(await dataset.select())).toEqual([{ v }]);
    expect(dataset.revision).toBe(revision ?? 'main');
  });

  it('everything is read at the commit, even if the branch moves', async () => {
    const dataset = await client.openDataset({ path: 'o/versions', revision: 'v1' });
    await rowsOf(await dataset.select());
    const commit = hub.commitOf('o/versions', 'refs/tags/v1');
    expect(dataset.resolvedRevision).toBe(commit);
    const [, ...later] = hub.requests;
    expect(later.every(({ path }) => path.includes(commit))).toBe(true);
  });

  it('unknown ones are reported with the available ones', async () => {
    const error = await failure(client.openDataset({ path: 'o/versions', revision: 'nope' }));
    expect(error).toMatchObject({
      code: 'hub_revision_not_found',
      details: { available: ['main', 'v1'], status: 404 },
    });
    expect(error.message).toMatch(/"nope".*main, v1/);
  });
});

describe('names and tokens', () => {
  it('a legacy name and a renamed repository are followed', async () => {
    hub.add({ id: 'owner/squad', files: { 'train.jsonl': lines({ a: 1 }) } });
    hub.rename('squad', 'owner/squad');
    const dataset = await client.openDataset({ path: 'squad' });
    expect(dataset.id).toBe('owner/squad');
    expect(await rowsOf(await dataset.select())).toEqual([{ a: 1 }]);
  });

  it.each([
    [{ path: '../etc' }],
    [{ path: 'a/b/c' }],
    [{ path: '' }],
    [{ path: 'o/d', revision: '..' }],
    [{ path: 'o/d', token: 'a b' }],
    [{ path: 'o/d', token: 'hf_a\r\nx: y' }],
  ])('%j is refused before any request', async (options) => {
    expect((await failure(client.openDataset(options))).code).toBe('invalid_request');
    expect(hub.requests).toHaveLength(0);
  });

  it.each([
    ['the request', 'hf_own', undefined],
    ['the client', undefined, 'hf_own'],
  ])('a token of %s opens a gated dataset, and reaches the hub only', async (_name, token, clientToken) => {
    hub.add({ ...gsm(), id: 'o/gated', access: 'gated', readers: ['hf_own'] });
    client = clientFor(hub, { token: clientToken });
    const selection = await select('o/gated', { subset: 'main', split: 'train[:3]' }, { token });
    expect(await rowsOf(selection)).toHaveLength(3);
    const tokens = (origin: string): unknown[] => [
      ...new Set(
        hub.requests.filter((one) => one.origin === origin).map(({ headers }) => headers.authorization),
      ),
    ];
    expect(tokens('hub')).toEqual(['Bearer hf_own']);
    expect(tokens('storage')).toEqual([undefined]);
  });

  it('a gated dataset without a token is reported as gated', async () => {
    hub.add({ ...gsm(), id: 'o/gated', access: 'gated' });
    expect((await failure(select('o/gated', { subset: 'main' }))).code).toBe('hub_gated');
  });

  it('a disabled one too', async () => {
    hub.add({ ...gsm(), id: 'o/disabled', access: 'disabled' });
    expect((await failure(client.openDataset({ path: 'o/disabled' }))).code).toBe('hub_gated');
  });
});

describe('listings', () => {
  it('of many pages are read whole', async () => {
    hub.pageSize = 7;
    const files = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `part/${String(index).padStart(3, '0')}.jsonl`,
        lines({ index }),
      ]),
    );
    hub.add({ id: 'o/pages', files });
    const rows = await rowsOf(await select('o/pages'));
    expect(rows).toHaveLength(40);
    expect(hub.requests.filter(({ path }) => path.includes('/tree/'))).toHaveLength(6);
  });

  it.each([
    ['a next page elsewhere', { link: '<http://127.0.0.2:9/next>; rel="next"' }, '[]'],
    ['a circle', { link: '<?recursive=true>; rel="next"' }, '[]'],
    ['no list', {}, '{}'],
    ['an entry that leads out', {}, '[{"type":"file","path":"../x","size":1}]'],
    ['an entry without a size', {}, '[{"type":"file","path":"x"}]'],
    ['a name with NUL', {}, String.raw`[{"type":"file","path":"a\u0000.csv","size":1}]`],
    ['a name with ESC', {}, String.raw`[{"type":"file","path":"a\u001b[31m.csv","size":1}]`],
    ['a name with a C1 control', {}, String.raw`[{"type":"file","path":"a\u009b31m.csv","size":1}]`],
    ['a name that reverses its end', {}, String.raw`[{"type":"file","path":"a\u202evsc.exe","size":1}]`],
  ])('with %s are refused', async (_name, headers, body) => {
    hub.add(gsm());
    hub.fail({
      match: /\/tree\//,
      fault: { kind: 'status', status: 200, headers: headers as Record<string, string>, body },
    });
    expect((await failure(client.openDataset({ path: 'school/math' }))).code).toBe('hub_bad_response');
  });
});

describe('a hub in trouble', () => {
  beforeEach(() => hub.add(gsm()));
  const read = async (): Promise<unknown> => await rowsOf(await select('school/math', { subset: 'main' }));

  it.each([
    ['cut off', { kind: 'cut', afterBytes: 500 }],
    ['stalling', { kind: 'stall', afterBytes: 500 }],
    ['busy', { kind: 'status', status: 503 }],
  ] as const)('once %s, the rows come all the same', async (_name, fault) => {
    const whole = await read();
    if (fault.kind === 'stall') client = clientFor(hub, { timeouts: { idleBodyMs: 500 } });
    hub.fail({ match: /^storage/, fault, times: 1 });
    expect(await read()).toEqual(whole);
  });

  it.each([
    [/^storage/, { kind: 'status', status: 500 }, 'hub_unavailable'],
    [/^storage/, { kind: 'silent' }, 'hub_timeout'],
    [/^storage/, { kind: 'corrupt' }, 'hub_bad_response'],
    [/^storage/, { kind: 'short', afterBytes: 10 }, 'hub_bad_response'],
    [/\/tree\//, { kind: 'html' }, 'hub_bad_response'],
    [/\/revision\//, { kind: 'status', status: 429, headers: { 'retry-after': '600' } }, 'hub_rate_limited'],
    [/README/, { kind: 'status', status: 502 }, 'hub_unavailable'],
  ] as const)('%s %j is %s', async (match, fault, code) => {
    if (fault.kind === 'silent') client = clientFor(hub, { timeouts: { headersMs: 500 } });
    hub.fail({ match, fault });
    expect((await failure(read())).code).toBe(code);
  });

  it('the budget ends everything with its own error', async () => {
    hub.fail({ match: /^storage/, fault: { kind: 'silent' } });
    const slow = clientFor(hub, { timeouts: { headersMs: 600_000 } });
    const dataset = await slow.openDataset({ path: 'school/math', budgetMs: 2000 });
    expect((await failure(dataset.select({ subset: 'main' }))).code).toBe('hub_timeout');
    await slow.close();
  });

  it('the signal of a reading ends all of its work', async () => {
    const selection = await select('school/math', { subset: 'main' });
    const abort = new AbortController();
    const reading = (async () => {
      for await (const _ of selection.rowBatches({ signal: abort.signal })) abort.abort(new Error('enough'));
    })();
    await expect(reading).rejects.toThrow('enough');
  });
});

describe('a client', () => {
  it('takes a fetch function', async () => {
    hub.add(gsm());
    const asked: string[] = [];
    client = clientFor(hub, {
      fetch: (url, init) => {
        asked.push(url.pathname);
        return fetch(url, init);
      },
    });
    expect(await rowsOf(await select('school/math', { subset: 'main', split: 'test[:1]' }))).toHaveLength(1);
    expect(asked).toHaveLength(hub.requests.length);
  });

  it('tells of every exchange, without token, query or path', async () => {
    hub.add({ ...gsm(), access: 'gated', readers: ['hf_secret'] });
    const events: unknown[] = [];
    client = clientFor(hub, { token: 'hf_secret', onRequest: (event) => events.push(event) });
    await rowsOf(await select('school/math', { subset: 'main' }));
    expect(events).toHaveLength(hub.requests.length);
    const text = JSON.stringify(events);
    for (const hidden of ['hf_secret', 's3cret', 'math', '?']) expect(text).not.toContain(hidden);
    expect(events.at(-1)).toMatchObject({ kind: 'storage', status: 200, outcome: 'ok' });
  });

  it.each(['', 'ftp://hub', 'hub.example', 'https://user:pw@hub.example', 'https://hub.example/?a=b'])(
    'refuses the endpoint %j',
    (endpoint) => {
      expect(() => createHubClient({ endpoint })).toThrow(/endpoint/);
    },
  );
});
