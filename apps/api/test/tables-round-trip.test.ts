import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { readMapping } from '@svc/jsonl-v23/mapping';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openFiles } from '../../../packages/svc-pkg/src/local/open-files.ts';
import { packFiles } from '../../../packages/svc-pkg/src/local/pack-files.ts';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

let api: TestApi;
let folder: string;
beforeAll(async () => {
  api = await startTestApi();
  folder = await mkdtemp(join(tmpdir(), 'svc-round-'));
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

/** What docs/tables.md gives for reading a table of items back. */
const MAPPING: JsonObject = {
  prompt_column: 'prompt',
  answer_column: 'answer',
  id_column: 'id',
  type_column: 'type',
  choices_column: 'choices',
  system_prompt_column: 'system_prompt',
  criteria_columns: ['criteria'],
  tags_columns: ['tags'],
  types: { id: 'string', answer: 'string', choices: 'json', criteria: 'json', tags: 'json' },
};

const FULL = [
  ['a', '=1+1'],
  ['b', ' "x",\r\ny '],
  ['c', '007'],
].map(([id, prompt], n) => ({
  id,
  type: 'multiple_choice',
  inputs: { prompt, system_prompt: 'Be, "brief".', choices: ['1.50', { text: 'NA' }, 12345678901234567890n] },
  answer: ['1.50', 'null', 'true'][n],
  criteria: ['c1', { more: 1 }],
  tags: ['t', `n${n}`],
}));
const SPARSE = [
  { id: 'a', type: 'exact', inputs: { prompt: 'one' }, answer: 'x', tags: ['t'] },
  { id: 'b', type: 'freeform', inputs: { prompt: 'two', system_prompt: 'S' } },
  { id: 'c', type: 'freeform', inputs: { prompt: 'three', choices: ['k'] }, criteria: ['d'] },
];
const toLines = (items: readonly object[]): string =>
  items
    .map((item) => JSON.stringify(item, (_, value) => (typeof value === 'bigint' ? `BIG${value}` : value)))
    .join('\n')
    .replaceAll(/"BIG(\d+)"/g, '$1');

type Dataset = { id: string; version_hash: string };

async function store(body: FormData): Promise<Dataset> {
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', body });
  const dataset = (await response.json()) as Dataset;
  expect(dataset).toMatchObject({ version_hash: expect.any(String) });
  return dataset;
}

async function storeItems(items: readonly object[]): Promise<Dataset> {
  return await store(uploadForm(await makePackage({ 'sections/default.jsonl': toLines(items) })));
}

/** The table of a dataset, uploaded, and packed by the command line. */
async function readBack(id: string, format: 'csv' | 'parquet'): Promise<[uploaded: string, packed: string]> {
  const bytes = await (await fetch(`${api.url}/datasets/${id}/items.${format}`)).arrayBuffer();
  const form = new FormData();
  form.set('mapping', JSON.stringify(MAPPING));
  form.set('file', new Blob([bytes]), `items.${format}`);
  const uploaded = await store(form);

  const path = join(folder, `items.${format}`);
  await writeFile(path, new Uint8Array(bytes));
  const { signal } = new AbortController();
  await using opened = await openFiles({ stdin: Readable.from([]), signal }, [path], {
    hints: {},
    isMapped: true,
  });
  const given = { wire: MAPPING, mapping: readMapping(MAPPING) };
  const target = {
    generator: { name: 'svc-pkg', version: '0.0.0-test' },
    force: true,
    signal,
    onProgress: () => undefined,
  };
  const packed = await packFiles(
    opened,
    given,
    { name: 'n', description: undefined },
    join(folder, 'out.pkg.zip'),
    target,
  );
  return [uploaded.version_hash, packed.versionHash];
}

it.each(['csv', 'parquet'] as const)(
  'gets items back from items.%s, by upload and by pack',
  async (format) => {
    const { id, version_hash } = await storeItems(FULL);
    expect(await readBack(id, format)).toEqual([version_hash, version_hash]);
  },
);

it.each(['csv', 'parquet'] as const)(
  'gets items back whose text columns are empty for all, from items.%s',
  async (format) => {
    const { id, version_hash } = await storeItems(
      ['one', 'two'].map((prompt, n) => ({ id: `i${n}`, type: 'freeform', inputs: { prompt } })),
    );
    expect(await readBack(id, format)).toEqual([version_hash, version_hash]);
  },
);

it('gets empty answers and the character NUL back from items.csv', async () => {
  const { id, version_hash } = await storeItems(
    ['one', 'two\u0000'].map((prompt, n) => ({
      id: `i${n}`,
      type: 'freeform',
      inputs: { prompt },
      answer: '',
    })),
  );
  expect(await readBack(id, 'csv')).toEqual([version_hash, version_hash]);
});

it('tells absent values apart in Parquet, and not in CSV', async () => {
  const { id, version_hash } = await storeItems(SPARSE);
  expect(await readBack(id, 'parquet')).toEqual([version_hash, version_hash]);
  const [uploaded, packed] = await readBack(id, 'csv');
  expect(uploaded).toBe(packed);
  expect(uploaded).not.toBe(version_hash);
});
