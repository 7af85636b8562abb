import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { makePackage } from './make-package.ts';
import { parquetOf } from './parquet-of.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

interface Body {
  readonly [key: string]: unknown;
  readonly code?: string;
  readonly errors?: readonly Record<string, unknown>[];
}

let hub: FakeHub;
let api: TestApi;
let folder: string;
beforeAll(async () => {
  hub = await startFakeHub();
  api = await startTestApi({ HUB_ENDPOINT: hub.endpoint, SVC_MAX_UNCOMPRESSED_BYTES: '20000000' });
  folder = await mkdtemp(join(tmpdir(), 'svc-own-'));
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await hub.close();
  await rm(folder, { recursive: true, force: true });
});

type Content = string | Uint8Array<ArrayBufferLike>;

async function post(
  path: string,
  files: Readonly<Record<string, Content>>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly status: number; readonly body: Body }> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  for (const [name, content] of Object.entries(files))
    form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
  const response = await fetch(`${api.url}${path}`, { method: 'POST', body: form });
  return { status: response.status, body: (await response.json()) as Body };
}
const upload = (files: Readonly<Record<string, Content>>, fields: Readonly<Record<string, unknown>> = {}) =>
  post('/datasets/upload', files, fields);
const preview = (files: Readonly<Record<string, Content>>, fields: Readonly<Record<string, unknown>> = {}) =>
  post('/datasets/upload/preview', files, fields);
const items = async (id: unknown): Promise<Record<string, unknown>[]> =>
  (await (await fetch(`${api.url}/datasets/${id}/items.jsonl`)).text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const datasetCount = async (): Promise<number> => {
  const list = (await (await fetch(`${api.url}/datasets?limit=1`)).json()) as {
    meta: { total_items: number };
  };
  return list.meta.total_items;
};

const csvField = (value: unknown): string => {
  const text = value === null ? '' : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const csvOf = (rows: readonly Record<string, unknown>[], delimiter = ','): string =>
  [Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row))]
    .map((values) => values.map(csvField).join(delimiter))
    .join('\r\n');

const ROWS = Array.from({ length: 1000 }, (_, index) => ({
  uid: `row-${index}`,
  question: `What is ${index} + 1?${index % 7 === 0 ? ' "Quoted",\nin two lines; é 😀' : ''}`,
  answer: index + 1,
  share: index / 8,
  zip: `0${index}`,
  topic: index % 2 === 0 ? 'sums' : 'more sums',
}));
const MAPPING = {
  prompt_column: 'question',
  answer_column: 'answer',
  id_column: 'uid',
  meta_columns: ['share', 'zip', 'topic'],
  default_type: 'numeric',
};

describe('one table of 1,000 rows', () => {
  it('has the same version hash in every format and from the hub', async () => {
    const lines = ROWS.map((row) => JSON.stringify(row)).join('\n');
    const parquet = await parquetOf(ROWS);
    const forms: Record<string, Content> = {
      'a.csv': csvOf(ROWS),
      'b.csv': csvOf(ROWS, ';'),
      'c.tsv': csvOf(ROWS, '\t'),
      'd.csv': Buffer.from(`\ufeff${csvOf(ROWS)}`, 'utf16le'),
      'e.jsonl': lines,
      'f.json': JSON.stringify(ROWS, null, 2),
      'g.json': JSON.stringify({ version: 1, rows: ROWS }),
      'h.parquet': parquet,
      'i.csv.gz': gzipSync(csvOf(ROWS)),
      'j.tsv.zst': zstdCompressSync(csvOf(ROWS, '\t')),
      'k.jsonl.gz': gzipSync(lines),
      'l.json.zst': zstdCompressSync(JSON.stringify(ROWS)),
      'm.parquet.gz': gzipSync(parquet),
      'n.zip': await makePackage({ 'folder/data.csv': csvOf(ROWS) }),
      'o.zip': await makePackage({ 'data.parquet': parquet }),
    };
    const hashes = new Map<string, unknown>();
    for (const [name, content] of Object.entries(forms)) {
      const { status, body } = await upload({ [name]: content }, { mapping: MAPPING });
      expect(status, `${name} ${JSON.stringify(body)}`).toBe(201);
      hashes.set(name, body['version_hash']);
    }
    hub.add({ id: 'org/table', files: { 'train.jsonl': lines } });
    const imported = await fetch(`${api.url}/datasets/hub/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        name: 'hub',
        config: { path: `${hub.endpoint}/datasets/org/table/tree/main` },
        mapping: MAPPING,
      }),
    });
    expect(imported.status).toBe(201);
    hashes.set('hub', ((await imported.json()) as Body)['version_hash']);
    expect(new Set(hashes.values()).size, JSON.stringify([...hashes])).toBe(1);
    const again = await upload({ 'a.csv': csvOf(ROWS) }, { mapping: MAPPING });
    expect(await items(again.body['id'])).toMatchObject([
      { id: 'row-0', type: 'numeric', answer: 1, meta: { share: 0, zip: '00', topic: 'sums' } },
      ...ROWS.slice(1).map(({ uid, answer, zip }) => ({ id: uid, answer, meta: { zip } })),
    ]);
    expect(again.body).toMatchObject({
      name: 'a',
      sections: [{ name: 'default', item_count: 1000 }],
      schema: {
        source: 'file',
        files: [
          { name: 'a.csv', format: 'csv', bytes: csvOf(ROWS).length + 143 * 3, sha256: expect.any(String) },
        ],
        options: { delimiter: ',', quote: '"', encoding: 'utf-8', header: true },
        features: { answer: 'int64', share: 'float64', zip: 'string' },
        mapping: MAPPING,
      },
    });
    const listed = (await (await fetch(`${api.url}/datasets?source=file`)).json()) as { data: Body[] };
    expect(listed.data[0]).toMatchObject({ id: again.body['id'] });
    expect(await api.metrics.render()).toContain(
      'svc_dataset_imports_total{source="file",outcome="succeeded"} 16',
    );
  });

  it('keeps the columns that a mapping does not name, in every format and from the hub', async () => {
    const rows = ROWS.map((row, index) => ({
      ...row,
      scored: index % 2 === 0 ? '{"type":"numeric","tolerance":0.5}' : 'includes',
    }));
    const { meta_columns, ...named } = MAPPING;
    const mapping = { ...named, checker_column: 'scored', keep_unmapped: true };
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    const forms: Record<string, Content> = {
      'a.csv': csvOf(rows),
      'e.jsonl': lines,
      'h.parquet': await parquetOf(rows),
    };
    const hashes: unknown[] = [];
    for (const [name, content] of Object.entries(forms)) {
      const { status, body } = await upload({ [name]: content }, { mapping });
      expect(status, JSON.stringify(body)).toBe(201);
      expect(body['schema']).toMatchObject({ mapping });
      const [first, second] = await items(body['id']);
      expect(first).toMatchObject({
        checker: { type: 'numeric', tolerance: 0.5 },
        meta: { share: 0, zip: '00', topic: 'sums' },
      });
      expect(second).toMatchObject({ checker: 'includes', meta: { zip: '01', topic: 'more sums' } });
      const shown = await preview({ [name]: content }, { mapping });
      expect((shown.body['items'] as Body[])[0]).toMatchObject({ item: { meta: { topic: 'sums' } } });
      hashes.push(body['version_hash']);
    }
    hub.add({ id: 'org/kept', files: { 'train.jsonl': lines } });
    const imported = await fetch(`${api.url}/datasets/hub/import`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'hub', config: { path: 'org/kept' }, mapping }),
    });
    hashes.push(((await imported.json()) as Body)['version_hash']);
    const stated = { ...mapping, keep_unmapped: false, meta_columns };
    hashes.push((await upload({ 'a.csv': csvOf(rows) }, { mapping: stated })).body['version_hash']);
    expect(new Set(hashes).size, JSON.stringify(hashes)).toBe(1);
    const wrong = csvOf(rows.map((row) => ({ ...row, scored: '{"type":' })));
    expect(await upload({ 'a.csv': wrong }, { mapping })).toMatchObject({
      status: 400,
      body: { code: 'invalid_row' },
    });
  });
});

it('keeps a column that has no name', async () => {
  const mapping = { prompt_column: 'question', keep_unmapped: true };
  const file = { 'a.jsonl': '{"": 7, "question": "q"}' };
  expect((await preview(file, { mapping })).body['items']).toMatchObject([{ item: { meta: { '': 7 } } }]);
  const { status, body } = await upload(file, { mapping });
  expect(status, JSON.stringify(body)).toBe(201);
  expect(await items(body['id'])).toMatchObject([{ meta: { '': 7 } }]);
});

describe('a table of answers like those of GSM8K', () => {
  it('is suggested with a pattern, and has 1,319 items with numbers', async () => {
    const rows = Array.from({ length: 1319 }, (_, index) => ({
      question: `Ann has ${index} apples. How many has she?`,
      answer: `She has <<${index}*1=${index}>>${index}.\n#### ${index > 999 ? `${Math.floor(index / 1000)},${String(index % 1000).padStart(3, '0')}` : index}`,
    }));
    const mapping = {
      prompt_column: 'question',
      answer_column: 'answer',
      answer_pattern: '####\\s*(\\S+)',
      default_type: 'numeric',
    };
    const lines = rows.map((row) => JSON.stringify(row)).join('\n');
    hub.add({ id: 'org/gsm', files: { 'train.jsonl': lines } });
    const seen = await fetch(`${api.url}/datasets/hub/preview`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'datasets/org/gsm', mapping, limit: 2 }),
    });
    expect(await seen.json()).toMatchObject({
      suggested_mapping: mapping,
      suggested_mapping_reasons: { answer_pattern: expect.any(String), default_type: expect.any(String) },
      items: [
        { row: 0, item: { id: 'train-0', type: 'numeric', answer: '0' } },
        { row: 1, item: { id: 'train-1', answer: '1' } },
      ],
    });
    for (const [name, content] of Object.entries({
      'gsm.parquet': await parquetOf(rows),
      'gsm.jsonl': lines,
    })) {
      const shown = await preview({ [name]: content });
      expect(shown.body['suggested_mapping']).toEqual(mapping);
      const { body } = await upload({ [name]: content }, { mapping });
      expect(body).toMatchObject({ item_count: 1319 });
      const stored = await items(body['id']);
      const numbers = stored.filter(({ answer }) => /^[0-9]{1,3}(?:,[0-9]{3})*$/.test(String(answer)));
      expect(numbers).toHaveLength(1319);
      expect(stored[1318]).toMatchObject({ id: 'default-1318', answer: '1,318' });
    }
  });
});

describe('a preview of a wide table', () => {
  it.each(['upload', 'hub'])(
    'shows the first thousand columns, and those of the mapping: %s',
    async (way) => {
      const names = Array.from({ length: 3000 }, (_, index) => `c${index}`);
      const csv = `${names.join()}\n${names.join()}\n`;
      const mapping = { prompt_column: 'c2500' };
      hub.add({ id: 'org/wide', files: { 'train.csv': csv } });
      const { body } =
        way === 'upload'
          ? await preview({ 'wide.csv': csv }, { mapping })
          : await fetch(`${api.url}/datasets/hub/preview`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ path: 'org/wide', split: 'train', mapping }),
            }).then(async (response) => ({ body: (await response.json()) as Body }));
      const shown = (body['features'] as { name: string }[]).map(({ name }) => name);
      expect(shown).toEqual([...names.slice(0, 1000), 'c2500']);
      expect(Object.keys((body['samples'] as object[])[0] ?? {})).toEqual(shown);
      expect(body['items']).toMatchObject([{ item: { inputs: { prompt: 'c2500' } } }]);
      expect(body['info']).toMatchObject({
        warnings: ['The table has 3000 columns. The preview shows the first 1000.'],
      });
    },
  );
});

describe('a preview of an upload', () => {
  it('shows columns, rows, a suggestion and items', async () => {
    const file = { 'table.csv': 'id,question,answer,empty\na,one,001,\nb,two,2,\n,,,\n' };
    expect(await preview(file, { limit: 2 })).toMatchObject({
      status: 200,
      body: {
        kind: 'table',
        format: 'csv',
        options: { delimiter: ',', quote: '"', encoding: 'utf-8', header: true },
        features: [
          { name: 'id', dtype: 'string' },
          { name: 'question', dtype: 'string' },
          { name: 'answer', dtype: 'string' },
          { name: 'empty', dtype: 'null' },
        ],
        samples: [
          { id: 'a', question: 'one', answer: '001', empty: null },
          { id: 'b', question: 'two', answer: '2', empty: null },
        ],
        num_rows: 3,
        suggested_mapping: {
          prompt_column: 'question',
          answer_column: 'answer',
          id_column: 'id',
          default_type: 'numeric',
        },
      },
    });
    const mapping = { prompt_template: 'Q: {question}', answer_column: 'answer', types: { answer: 'int64' } };
    const { body } = await preview(file, { mapping, limit: 3 });
    expect(body['items']).toMatchObject([
      { row: 0, item: { id: 'default-0', inputs: { prompt: 'Q: one' }, answer: 1 } },
      { row: 1, item: { answer: 2 } },
      { row: 2, item: { inputs: { prompt: 'Q: ' } } },
    ]);
    const missing = await preview(file, { mapping: { prompt_column: 'questoin' } });
    expect(missing).toMatchObject({ status: 400, body: { code: 'column_not_found' } });
    const odd = await preview(file, { mapping: { prompt_column: 'question', default_type: 'quiz' } });
    expect(odd.body['info']).toMatchObject({ warnings: [expect.stringContaining('"quiz"')] });
    const [parquet, instance] = [join(folder, 'nan.parquet'), await DuckDBInstance.create()];
    const connection = await instance.connect();
    await connection.run(
      `COPY (SELECT * FROM (VALUES ('x', 'NaN'::FLOAT, ['inf'::DOUBLE, 1]), ('y', 2, [])) AS t(q, a, l)) TO '${parquet}' (FORMAT parquet)`,
    );
    connection.closeSync();
    instance.closeSync();
    const numbers = await preview({ 'nan.parquet': await readFile(parquet) });
    expect(numbers.body).toMatchObject({
      samples: [
        { q: 'x', a: null, l: [null, 1] },
        { q: 'y', a: 2, l: [] },
      ],
      info: { warnings: ['NaN and infinities are read as null: 2 in the rows that were read.'] },
    });
    hub.add({ id: 'org/nan', files: { 'train.parquet': await readFile(parquet) } });
    const fromHub = await fetch(`${api.url}/datasets/hub/preview`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'org/nan' }),
    });
    expect(await fromHub.json()).toMatchObject({ info: { warnings: [expect.stringContaining(': 2 in')] } });
    expect(await datasetCount()).toBe(await datasetCount());
  });

  it('tells packages, older archives and items', async () => {
    const line = '{"id":"q","inputs":{"prompt":"p"}}\n';
    const pkg = await preview({ 'a.zip': await makePackage({ 'sections/a.jsonl': line }) });
    expect(pkg.body).toMatchObject({ kind: 'package', samples: [{ id: 'q', inputs: { prompt: 'p' } }] });
    const legacy = await preview({ 'a.zip': await makePackage({ 'data/a.jsonl': line }) });
    expect(legacy.body).toMatchObject({ kind: 'legacy_package', samples: [] });
    const found = await preview({ 'a.jsonl': line });
    expect(found.body).toMatchObject({ kind: 'items', format: 'jsonl', num_rows: 1 });
    expect(found.body['info']).not.toHaveProperty('warnings');
    const unasked = { 'a.jsonl': `${line}{"id":1,"inputs":{}}\n{"id":2,"inputs":{"x":1}}\n` };
    const warnings = [expect.stringMatching(/^2 items have neither a prompt nor messages/)];
    expect(await preview(unasked)).toMatchObject({ body: { kind: 'items', info: { warnings } } });
    expect(await post('/datasets/upload?dry_run=true', unasked)).toMatchObject({ body: { warnings } });
    expect(await upload(unasked)).toMatchObject({ status: 201, body: { warnings } });
    expect((await upload({ 'a.jsonl': line })).body).not.toHaveProperty('warnings');
  });

  it.each([
    ['of questions', '{"question":"2+2?","answer":"4"}\n'],
    ['of items in a member', '{"item":{"inputs":{"prompt":"p"}}}\n'],
    ['of items and a row', '{"inputs":{"prompt":"p"}}\n{"question":"q"}\n'],
  ])('takes lines %s for a table, which needs a mapping', async (_, lines) => {
    const file = { 'a.jsonl': lines };
    expect(await preview(file)).toMatchObject({ status: 200, body: { kind: 'table' } });
    const before = await datasetCount();
    expect(await upload(file)).toMatchObject({
      status: 400,
      body: { code: 'mapping_required', detail: expect.stringContaining('`inputs` in every object') },
    });
    expect(await datasetCount()).toBe(before);
  });

  it('warns of answers that can be read in two ways, and suggests no reading', async () => {
    const rows = [1, 2, 3].map((answer) =>
      JSON.stringify({ question: 'q', A: 'w', B: 'x', C: 'y', D: 'z', answer }),
    );
    const { body } = await preview({ 'a.jsonl': rows.join('\n') });
    expect(body['suggested_mapping']).not.toHaveProperty('answer_is');
    expect(body).toMatchObject({
      suggested_mapping: { answer_column: 'answer', choices_columns: ['A', 'B', 'C', 'D'] },
      info: { warnings: [expect.stringMatching(/"index".*"number"/)] },
    });
  });
});

describe('an upload', () => {
  it('says that a file was read as plain text where a column is missing', async () => {
    const files = { data: 'a,b\n"1,2\n3,4\n5,6\n' };
    const mapping = { prompt_column: 'b' };
    const hint = expect.stringContaining('read as plain text');
    for (const answer of [await upload(files, { mapping }), await preview(files, { mapping })]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'column_not_found', detail: hint } });
    }
    expect((await preview(files)).body).toMatchObject({ format: 'text', info: { warnings: [hint] } });
  });

  it('refuses JSON that has no rows, and does not make lines of it', async () => {
    for (const content of ['["a",\n"b"]', '[[1,2],[3,4]]', '"a"']) {
      const { status, body } = await upload({ 'x.json': content }, { mapping: { prompt_column: 'text' } });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'unsupported_file' });
    }
  });

  it('takes items as they are, and lists every faulty line', async () => {
    const line = (id: number): string => `{"answer":1.50,"id":${id},"inputs":{"prompt":"p"}}`;
    const stored = await upload(
      { 'b.jsonl': `${line(1)}\n`, 'a.jsonl.gz': gzipSync(line(2)) },
      { name: 'mine' },
    );
    expect(stored).toMatchObject({
      status: 201,
      body: {
        name: 'mine',
        sections: [{ name: 'a' }, { name: 'b' }],
        schema: { source: 'file', mapping: null },
      },
    });
    expect(await items(stored.body['id'])).toMatchObject([{ id: 2, answer: 1.5 }, { id: 1 }]);
    const faulty = `${line(1)}\n{"id":\n${line(2)}\n{"inputs":{},"tags":1}\n`;
    const refused = await upload({ 'a.jsonl': faulty });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        detail: expect.stringMatching(/^Expected a value, got .*\.$/),
        errors: [
          { code: 'invalid_json', file: 'a.jsonl', line: 2, message: expect.stringMatching(/\.$/) },
          { code: 'invalid_item', file: 'a.jsonl', line: 4, message: expect.stringMatching(/\.$/) },
        ],
        errors_total: 2,
      },
    });
    const dry = await post('/datasets/upload?dry_run=true', { 'a.jsonl': faulty });
    const located = (errors: unknown): unknown[] =>
      (errors as Body[]).map(({ message, file, line, column, path }) => ({
        message,
        file,
        line,
        column,
        path,
      }));
    expect(dry).toMatchObject({ status: 200, body: { version_hash: null, errors_total: 2 } });
    expect(located(dry.body['errors'])).toEqual(located(refused.body['errors']));
  });

  it('refuses items and rows that refer to files, which only packages have, and lists them all', async () => {
    const before = await datasetCount();
    const lines = [
      '{"id":1,"inputs":{}}\n',
      '{"assets":["assets/a.png"],"inputs":{}}\n',
      '{"assets":{"k":{"path":"other/b.png"}},"inputs":{}}\n',
    ].join('');
    const found = {
      errors: [
        { file: 'a.jsonl', line: 2, path: '/assets/0' },
        { file: 'a.jsonl', line: 3, path: '/assets/k' },
        { file: 'b.jsonl', line: 1, path: '/checker' },
      ],
      errors_total: 3,
    };
    const files = { 'a.jsonl': lines, 'b.jsonl': '{"checker":{"path":"checkers/x.py"},"inputs":{}}' };
    expect(await upload(files)).toMatchObject({ status: 400, body: { code: 'invalid_row', ...found } });
    const dry = await post('/datasets/upload?dry_run=true', files);
    expect(dry).toMatchObject({ status: 200, body: { version_hash: null, ...found } });

    const rows = '{"q":"x","a":{"k":"assets/a.png"}}\n{"q":"y","a":null}\n';
    const mapping = { prompt_column: 'q', assets_column: 'a' };
    expect(await upload({ 'a.jsonl': rows }, { mapping })).toMatchObject({
      status: 400,
      body: { code: 'invalid_row', errors: [{ row: 0, path: '/assets/k' }], errors_total: 1 },
    });
    const checker = { prompt_column: 'q', checker: { path: 'checkers/a.py' } };
    expect(await upload({ 'a.jsonl': rows }, { mapping: checker })).toMatchObject({
      status: 400,
      body: { errors_total: 2 },
    });
    expect(await datasetCount()).toBe(before);
    const skipping = { ...mapping, invalid_rows: 'skip' };
    const { status, body } = await upload({ 'a.jsonl': rows }, { mapping: skipping });
    expect({ status, count: body['item_count'] }).toEqual({ status: 201, count: 1 });
  });

  it('lists every file that a package lacks, with its faulty lines', async () => {
    const before = await datasetCount();
    const many = Array.from({ length: 120 }, (_, n) => `{"assets":["assets/${n}.png"]}\n`).join('');
    const archive = {
      'a.pkg.zip': await makePackage({
        'assets/a.png': 'a',
        'sections/a.jsonl':
          '{"assets":["assets/a.png"]}\n{"assets":["assets/b.png","assets/a.png",{"path":"c.png"}]}\n{"tags":1}\n{"checker":{"path":"checkers/x.py"}}\n',
        'sections/b.jsonl': '{"assets":["assets/a.png"]}\n{"assets":["assets/d.png"]}\n',
        'sections/c.jsonl': many,
      }),
    };
    const found = [
      {
        file: 'sections/a.jsonl',
        line: 2,
        path: '/assets/0',
        message: 'The archive has no file "assets/b.png".',
      },
      {
        file: 'sections/a.jsonl',
        line: 2,
        path: '/assets/2',
        message: 'The item refers to "c.png", which is not a file in assets/ or checkers/.',
      },
      { file: 'sections/a.jsonl', line: 3, path: '/tags' },
      { file: 'sections/a.jsonl', line: 4, path: '/checker' },
      { file: 'sections/b.jsonl', line: 2, path: '/assets/0' },
      { file: 'sections/c.jsonl', line: 1, path: '/assets/0' },
    ];
    const refused = await upload(archive);
    expect(refused).toMatchObject({
      status: 400,
      body: { code: 'package_missing_file', errors_total: 125 },
    });
    const dry = await post('/datasets/upload?dry_run=true', archive);
    expect(dry).toMatchObject({
      status: 200,
      body: { version_hash: null, item_count: 125, errors_total: 125 },
    });
    for (const { body } of [refused, dry]) {
      expect(body.errors?.length).toBe(100);
      expect(body.errors?.slice(0, found.length)).toMatchObject(found);
    }
    expect(await datasetCount()).toBe(before);
  });

  it('converts an older archive on request', async () => {
    const archive = {
      'old.zip': await makePackage({ 'data/a.jsonl': '{"id":"q","inputs":{"prompt":"p"}}\n' }),
    };
    const refused = await upload(archive);
    expect(refused).toMatchObject({ status: 400, body: { code: 'package_no_sections' } });
    expect(refused.body['detail']).toMatch(/svc-pkg convert.*convert=true/);
    expect(await upload(archive, { convert: 'true' })).toMatchObject({
      status: 201,
      body: { name: 'old', item_count: 1 },
    });
    await expect.poll(() => api.stagedFiles()).toEqual([]);
  });

  it('passes over what is no table in an archive, and lists it', async () => {
    const documents = {
      'repo/README.md': '# About\n',
      'repo/LICENSE': 'MIT\n',
      'repo/.gitattributes': '*.csv text\n',
      'repo/dataset_infos.json': '{"default": {"features": {}}}',
      'repo/_SUCCESS': '',
      'repo/train.csv': 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n',
    };
    const names = ['.gitattributes', 'LICENSE', 'README.md', '_SUCCESS', 'dataset_infos.json', 'train.csv'];
    const skipped_files = names.map((name) => ({ name, reason: expect.stringMatching(/^it is /) }));
    const mapping = { prompt_column: 'b' };
    const archive = { 'repo.zip': await makePackage({ ...documents, 'repo/x.csv': 'a,b\n1,2\n' }) };
    const stored = await upload(archive, { mapping });
    expect(stored).toMatchObject({
      status: 201,
      body: { item_count: 1, skipped_files, schema: { skipped_files, files: [{ name: 'x.csv' }] } },
    });
    const dry = await post('/datasets/upload?dry_run=true', archive, { mapping });
    expect(dry).toMatchObject({ status: 200, body: { item_count: 1, skipped_files } });
    const shown = await preview(archive, { mapping });
    const items = [{ item: { inputs: { prompt: '2' } } }];
    expect(shown).toMatchObject({ status: 200, body: { items, skipped_files } });
    const text = { 'repo.zip': await makePackage({ 'README.md': '# About\n' }) };
    expect(await upload(text, { mapping: { prompt_column: 'text' } })).toMatchObject({
      status: 400,
      body: { code: 'unsupported_file', detail: expect.stringContaining('it holds "README.md"') },
    });
    const table = { 'repo.zip': await makePackage({ 'license.csv': 'b\n1\n', 'x.csv': 'b\n2\n' }) };
    expect(await upload(table, { mapping })).toMatchObject({ status: 201, body: { item_count: 2 } });
  });

  it('names the file in which a column is missing', async () => {
    const files = { 'a.csv': 'q\nx\n', 'b.csv': 'p\ny\n' };
    const refused = await upload(files, { mapping: { prompt_column: 'q' } });
    expect(refused).toMatchObject({
      status: 400,
      body: {
        code: 'column_not_found',
        detail: expect.stringContaining('The file "b.csv" has the columns "p".'),
        errors: [{ file: 'b.csv', path: '/mapping/prompt_column' }],
      },
    });
  });

  it('counts the files of an archive before it unpacks one', async () => {
    const tables = Object.fromEntries(
      Array.from({ length: 1500 }, (_, index) => [`t${index}.csv`, 'a\n1\n']),
    );
    // The first entry cannot be unpacked: code that unpacks before counting finds that.
    const archive = Buffer.from(await makePackage({ ...tables }, 'STORE'));
    archive[archive.indexOf('a\n1\n')] = 0x62;
    const refused = await preview({ 'many.zip': archive }, { mapping: { prompt_column: 'a' } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'unsupported_file' } });
    expect(refused.body['detail']).toContain('more than 1000 files');
  });

  it('reads the tables of an archive as it reads them one by one', async () => {
    const tables = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`t${index}.csv`, 'a\n1\n']));
    const archive = { 'many.zip': await makePackage(tables) };
    const form = { mapping: { prompt_column: 'a' } };
    expect(await preview(archive, form)).toMatchObject({ status: 200 });
    const dry = await post('/datasets/upload?dry_run=true', archive, form);
    expect(dry).toMatchObject({ status: 200, body: { item_count: 99 } });
    const dryFiles = await post('/datasets/upload?dry_run=true', tables, form);
    expect(dryFiles.body).toMatchObject({ item_count: 99, version_hash: dry.body['version_hash'] });
  });

  it('tells an archive of tables from an older one by whether its items have prompts', async () => {
    const rows = '{"q":"x","a":1}\n{"q":"y","a":2}\n';
    const lines = await makePackage({ 'b.jsonl': rows, 'a.jsonl': rows });
    const kinds = { 'a.zip': lines };
    expect(await preview(kinds)).toMatchObject({ body: { kind: 'table', format: 'jsonl' } });
    expect(await upload(kinds)).toMatchObject({ status: 400, body: { code: 'mapping_required' } });
    const json = { 'a.zip': await makePackage({ 'data/a.json': `[${rows.trim().replace('\n', ',')}]` }) };
    expect(await upload(json)).toMatchObject({
      status: 400,
      body: { code: 'mapping_required', errors: [{ file: 'data/a.json' }, {}] },
    });
    const mapping = { prompt_column: 'q', answer_column: 'a' };
    expect(await upload(json, { mapping })).toMatchObject({ status: 201, body: { item_count: 2 } });
    const both = await upload({ 'x.zip': lines, 'c.csv': 'q,a\nz,3\n' }, { mapping });
    expect(both.body['sections']).toMatchObject([{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    const pkg = await makePackage({ 'sections/a.jsonl': rows });
    expect(await upload({ 'p.zip': pkg, 'c.csv': 'q\nz\n' }, { mapping })).toMatchObject({
      status: 400,
      body: { code: 'unsupported_file', errors: [{ file: 'p.zip' }] },
    });
    expect(await upload({ 'x/a.csv': 'q\nx\n', 'a.tsv': 'q\nx\n' }, { mapping })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', title: 'Invalid request', errors: [{ file: 'a.tsv' }] },
    });
  });

  it('lists rows that cannot be read in a dry run, skips them on request, and continues', async () => {
    const csv = 'q,a\nx,1\ny\n"z\n2",3\nw,4,5\n';
    const jsonl = '{"q":"x","a":1}\n{"q":\n\n{"q":"y","a":null,"a":1}\n{"q":"z"}\n';
    const mapping = { prompt_column: 'q', answer_column: 'a' };
    const files = { 'a.csv': csv, 'b.jsonl': jsonl };
    const dry = await post('/datasets/upload?dry_run=true', files, { mapping });
    expect(dry).toMatchObject({
      status: 200,
      body: {
        item_count: 4,
        version_hash: null,
        errors: [
          { code: 'invalid_row', file: 'a.csv', line: 3, column: 2, row: 1 },
          { file: 'a.csv', line: 6, column: 4, row: 3 },
          { file: 'b.jsonl', line: 2, row: 1 },
          { file: 'b.jsonl', line: 4, row: 2 },
        ],
        errors_total: 4,
      },
    });
    const open = await post('/datasets/upload?dry_run=true', { 'a.csv': `${csv}"v,6\n` }, { mapping });
    expect(open.body).toMatchObject({ errors: [{ line: 3 }, { line: 6 }, { line: 7 }], errors_total: 3 });
    const stored = await upload(files, { mapping: { ...mapping, invalid_rows: 'skip' } });
    expect(stored).toMatchObject({ status: 201, body: { schema: { skipped: { count: 4 } } } });
    expect((await items(stored.body['id'])).map(({ id }) => id)).toEqual(['a-0', 'a-2', 'b-0', 'b-3']);
    const refused = await upload(files, { mapping });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_row', errors_total: 4 } });
    const placesOf = ({ body }: { readonly body: Body }): unknown =>
      (body['errors'] as Body[]).map(({ file, line, column, row }) => [file, line, column, row]);
    expect(placesOf(refused)).toEqual(placesOf(dry));
  });

  it('keeps texts of a column that looks like numbers up to the last row of a large file', async () => {
    const lines = Array.from({ length: 2500 }, (_, row) => `${row} ${'x'.repeat(2000)},${row},${row}`);
    const mapping = { prompt_column: 'q', answer_column: 'a', id_column: 'id' };
    const numbers = await upload({ 'a.csv': ['q,a,id', ...lines].join('\n') }, { mapping });
    expect(numbers).toMatchObject({ status: 201, body: { item_count: 2500 } });
    expect(numbers.body['schema']).toMatchObject({ features: { q: 'string', a: 'int64' } });
    const mixed = { 'b.csv': 'q,a,id\nx,1,y\n', 'a.csv': ['q,a,id', ...lines, 'last,007,z'].join('\n') };
    const texts = await upload(mixed, { mapping });
    expect(texts).toMatchObject({ status: 201, body: { item_count: 2502 } });
    expect(texts.body['schema']).toMatchObject({ features: { a: 'json', id: 'string' } });
    const found = await items(texts.body['id']);
    expect([found[0], found[2500], found[2501]]).toMatchObject([
      { id: '0', answer: '0' },
      { id: 'z', answer: '007' },
      { answer: 1 },
    ]);
    const dry = await post('/datasets/upload?dry_run=true', mixed, { mapping });
    expect(dry.body).toMatchObject({ item_count: 2502, version_hash: texts.body['version_hash'] });
  });

  it('gives the same answer to the same key, and refuses it with another mapping', async () => {
    const send = (mapping: object) => {
      const form = new FormData();
      form.append('mapping', JSON.stringify(mapping));
      form.append('file', new Blob(['q,a\nx,1\n']), 'a.csv');
      const headers = { 'Idempotency-Key': 'a table' };
      return fetch(`${api.url}/datasets/upload`, { method: 'POST', body: form, headers });
    };
    const responses = await Promise.all([send({ prompt_column: 'q' }), send({ prompt_column: 'q' })]);
    const [first, second] = (await Promise.all(responses.map((response) => response.json()))) as Body[];
    expect([responses[0]?.status, responses[1]?.status]).toEqual([201, 201]);
    expect(second).toEqual(first);
    const other = await send({ prompt_column: 'a' });
    expect([other.status, await other.json()]).toMatchObject([409, { code: 'idempotency_key_reused' }]);
  });

  it('asks for a mapping, and lists the columns', async () => {
    expect(await upload({ 'a.csv': 'q,a\nx,1\ny,2\n' })).toMatchObject({
      status: 400,
      body: {
        code: 'mapping_required',
        errors: [
          { file: 'a.csv', message: 'Column "q" has the type string.' },
          { file: 'a.csv', message: 'Column "a" has the type int64.' },
        ],
      },
    });
  });

  it('lists the columns that no key of the mapping uses', async () => {
    const file = { 'a.csv': 'q,a,n\nx,1,2\n' };
    const fields = (more: object) => ({ mapping: JSON.stringify({ prompt_column: 'q', ...more }) });
    const unused_columns = ['a', 'n'];
    for (const path of ['/datasets/upload?dry_run=true', '/datasets/upload']) {
      expect(await post(path, file, fields({}))).toMatchObject({ body: { unused_columns } });
      const kept = await post(path, file, fields({ keep_unmapped: true, types: { n: 'string' } }));
      expect(kept.body).not.toHaveProperty('unused_columns');
    }
    const [names] = [Array.from({ length: 120 }, (_, index) => `c${index}`)];
    const wide = { 'a.csv': `q,${names}\nx,${names}\n` };
    const { body } = await upload(wide, fields({}));
    expect(body).toMatchObject({ unused_columns: names.slice(0, 100), unused_columns_total: 120 });
  });

  it('skips invalid rows on request, and says which', async () => {
    const file = { 'a.csv': 'q,a\nx,1\ny,b\nz,3\n', 'b.csv': 'q,a\nx,no\n' };
    const mapping = { prompt_column: 'q', answer_column: 'a', types: { a: 'int64' } };
    const failed = await upload(file, { mapping });
    expect(failed).toMatchObject({
      status: 400,
      body: {
        code: 'invalid_row',
        errors: [
          { file: 'a.csv', row: 1 },
          { file: 'b.csv', row: 0 },
        ],
        errors_total: 2,
      },
    });
    const many = { 'a.csv': `q,a\n${'x,b\n'.repeat(20_000)}` };
    const bounded = await upload(many, { mapping });
    expect(bounded.body).toMatchObject({ errors: { length: 100 }, errors_total: 20_000 });
    const narrow = { 'c.csv': `q,a\n${'x,1\nx\n'.repeat(15_000)}` };
    const partial = await upload(narrow, { mapping: { ...mapping, invalid_rows: 'skip' } });
    expect(partial.body).toMatchObject({
      item_count: 15_000,
      schema: {
        skipped: {
          count: 15_000,
          rows: Array.from({ length: 100 }, (_, index) => ({
            file: 'c.csv',
            row: 2 * index + 1,
            message: 'The row must have 2 fields, got 1.',
          })),
        },
      },
    });
    const dry = await post('/datasets/upload?dry_run=true', file, { mapping });
    expect(dry.body).toMatchObject({
      version_hash: null,
      errors: [
        { file: 'a.csv', row: 1 },
        { file: 'b.csv', row: 0 },
      ],
      errors_total: 2,
    });
    const skipping = { mapping: { ...mapping, invalid_rows: 'skip' } };
    const stored = await upload(file, skipping);
    expect(stored).toMatchObject({
      status: 201,
      body: {
        item_count: 2,
        schema: {
          skipped: {
            count: 2,
            rows: [
              { row: 1, file: 'a.csv', message: expect.stringContaining('int64') },
              { row: 0, file: 'b.csv' },
            ],
          },
        },
      },
    });
    expect(await items(stored.body['id'])).toMatchObject([{ id: 'a-0' }, { id: 'a-2', answer: 3 }]);
    const dryAgain = await post('/datasets/upload?dry_run=true', file, skipping);
    expect(dryAgain.body).toMatchObject({
      version_hash: stored.body['version_hash'],
      errors_total: 0,
      skipped: { count: 2 },
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a mapping that is not JSON', { mapping: '{' }, 'mapping'],
    ['a key that mappings do not have', { mapping: { prompt_column: 'q', answer: 'a' } }, '/mapping/answer'],
    ['an unknown format', { format: 'xlsx' }, 'format'],
    ['a delimiter of two characters', { options: { delimiter: '::' } }, 'options'],
    ['an unknown option', { options: { sep: ',' } }, 'options'],
    ['a limit that is too high', { limit: '101' }, 'limit'],
  ])('is refused with %s', async (_, fields, path) => {
    const refused = await preview({ 'a.csv': 'q,a\nx,1\n' }, fields);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } });
  });

  it('keeps the texts of hub columns whose type is given', async () => {
    hub.add({ id: 'org/codes', files: { 'train.csv': 'q,code\nx,001\nNA,1e5\n' } });
    const request = (mapping: object, path: string) =>
      fetch(`${api.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ path: 'org/codes', mapping }),
      });
    const mapping = { prompt_column: 'q', answer_column: 'code' };
    const inferred = (await (await request(mapping, '/datasets/hub/preview')).json()) as Body;
    expect(inferred).toMatchObject({
      info: { warnings: [expect.stringContaining('"code"')] },
      items: [{ item: { answer: 1 } }, { error: { code: 'invalid_row', row: 1 } }],
    });
    const types = { q: 'string', code: 'string' };
    const given = (await (await request({ ...mapping, types }, '/datasets/hub/preview')).json()) as Body;
    expect(given).toMatchObject({
      items: [{ item: { answer: '001' } }, { item: { inputs: { prompt: 'NA' }, answer: '1e5' } }],
    });
  });
});
