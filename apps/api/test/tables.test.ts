import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makePackage, uploadForm } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

const IMAGE = { mime_type: 'image/png', encoding: 'base64', data: 'iVBORwABAgM=' };
const ITEMS = [
  {
    id: 7,
    inputs: { prompt: 'a "quoted", =text\n', choices: ['A', { text: 'B' }] },
    answer: 'A',
    tags: ['x'],
  },
  { id: 'two', type: 'numeric', inputs: { prompt: '=1+1', system_prompt: 'S' }, meta: { a: { b: null } } },
  {
    inputs: { messages: [{ role: 'user', content: 'Hi' }] },
    answer: null,
    checker: 'exact',
    more: true,
    assets: { p: IMAGE },
  },
];
const EXACT = '{"answer":12345678901234567890.5,"id":"n","inputs":{"prompt":"\\u0001é😀"}}';
const files = {
  'sections/a.jsonl': ITEMS.map((item) => JSON.stringify(item)).join('\n'),
  'sections/b.jsonl': EXACT,
  'run_config.json': '{"provider":{"type":"echo"}}',
  'results.jsonl': [
    '{"section":"a","order_index":0,"item_id":7,"repetition":1,"status":"ok","output":"=A","score":0.1,"passed":true,"explanation":"E","error":null,"latency_ms":12.5,"usage":{"input_tokens":3}}',
    '{"section":"a","order_index":1,"item_id":"two","repetition":1,"status":"failed","output":null,"score":null,"passed":null,"explanation":null,"error":{"code":"c","message":"m"},"latency_ms":null,"usage":null}',
    '{"section":"b","order_index":0,"item_id":"n","repetition":1,"status":"ok","output":{"n":12345678901234567890.5},"score":1,"passed":true,"explanation":null,"error":null,"latency_ms":1,"usage":null}',
  ].join('\n'),
  'manifest.json': '{"name":"T \\"1\\""}',
};

let api: TestApi;
let folder: string;
let database: DuckDBInstance;
let dataset: { id: string };
let run: { id: string };
beforeAll(async () => {
  api = await startTestApi();
  folder = await mkdtemp(join(tmpdir(), 'svc-tables-'));
  database = await DuckDBInstance.create();
  const body = uploadForm(await makePackage(files));
  dataset = (await (
    await fetch(`${api.url}/datasets/upload`, { method: 'POST', body })
  ).json()) as typeof dataset;
  const runs = (await (await fetch(`${api.url}/runs?dataset_id=${dataset.id}`)).json()) as {
    data: [typeof run];
  };
  [run] = runs.data;
});
afterAll(async () => {
  database.closeSync();
  await api[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function download(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${api.url}${path}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, headers: response.headers, bytes, text: bytes.toString() };
}

/** Rows of a Parquet file by DuckDB, in which integers are texts, and by hyparquet. */
async function readParquet(bytes: Buffer): Promise<Record<string, unknown>[]> {
  const path = join(folder, 'table.parquet');
  await writeFile(path, bytes);
  const connection = await database.connect();
  const reader = await connection.runAndReadAll(`SELECT COLUMNS(*)::VARCHAR FROM read_parquet('${path}')`);
  const byDuckDB = reader.getRowObjectsJS();
  connection.closeSync();
  const byHyparquet = await parquetReadObjects({
    file: Uint8Array.from(bytes).buffer,
    compressors: { ZSTD: (input) => zstdDecompressSync(input) },
  });
  const sameKind = (value: unknown): unknown =>
    value === null || value === undefined ? null : typeof value === 'object' ? value : String(value);
  for (const [n, row] of byHyparquet.entries()) {
    for (const [name, value] of Object.entries(row)) {
      const other = byDuckDB[n]?.[name] ?? null;
      const parsed = typeof value === 'object' && value !== null ? JSON.parse(String(other)) : other;
      // hyparquet gives JSON columns as values, and whole doubles without a point
      expect([name, sameKind(value)]).toEqual([
        name,
        name === 'checker'
          ? JSON.parse(String(other))
          : sameKind(typeof value === 'number' ? Number(parsed) : parsed),
      ]);
    }
  }
  return byDuckDB as Record<string, unknown>[];
}

it('gives the items as CSV and Parquet with equal values', async () => {
  const csv = await download(`/datasets/${dataset.id}/items.csv`);
  expect(csv.status).toBe(200);
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
  expect(csv.headers.get('content-disposition')).toContain('filename="T _1_.items.csv"');
  const hash = /^[0-9a-f]{64}$/;
  const LINKED = /^\{"p":\{"byte_length":8,"mime_type":"image\/png","sha256":"[0-9a-f]{64}"\}\}$/;
  const [header] = csv.text.split('\n');
  expect(header).toBe(
    'section,order_index,item_hash,id,type,prompt,answer,choices,messages,system_prompt,criteria,tags,checker,meta,assets',
  );
  const rows = await readParquet((await download(`/datasets/${dataset.id}/items.parquet`)).bytes);
  expect(rows).toHaveLength(4);
  expect(Object.keys(rows[0] ?? {}).join(',')).toBe(header);
  expect(rows).toMatchObject([
    {
      section: 'a',
      order_index: '0',
      item_hash: expect.stringMatching(hash),
      id: '7',
      type: null,
      answer: 'A',
    },
    { prompt: '=1+1', system_prompt: 'S', type: 'numeric', meta: '{"a":{"b":null}}', answer: null },
    {
      messages: '[{"content":"Hi","role":"user"}]',
      checker: '"exact"',
      prompt: null,
      id: null,
      assets: expect.stringMatching(LINKED),
    },
    { section: 'b', order_index: '0', answer: '12345678901234567890.5', prompt: '\u0001é😀' },
  ]);
  const path = join(folder, 'items.csv');
  await writeFile(path, csv.bytes);
  const connection = await database.connect();
  const reader = await connection.runAndReadAll(
    `SELECT * FROM read_csv('${path}', header = true, all_varchar = true, quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false)`,
  );
  connection.closeSync();
  // a scalar of a JSON column is plain in CSV
  expect(reader.getRowObjectsJS()).toEqual(
    rows.map((row) => ({ ...row, checker: row['checker'] === null ? null : 'exact' })),
  );
});

it('gives the results as JSON Lines, CSV and Parquet with equal values', async () => {
  const lines = await download(`/runs/${run.id}/results.jsonl`);
  expect(lines.headers.get('content-type')).toBe('application/jsonl');
  expect(lines.headers.get('content-disposition')).toMatch(
    /^attachment; filename=run-[0-9a-f-]{36}\.results\.jsonl$/,
  );
  expect(lines.text.split('\n')[2]).toContain('"output":{"n":12345678901234567890.5}');
  const page = (await (await fetch(`${api.url}/runs/${run.id}/results`)).json()) as {
    data: { labels: unknown }[];
  };
  const parsed = lines.text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const [n, { labels: _, ...result }] of page.data.entries()) {
    expect(parsed[n]).toMatchObject({
      ...result,
      label: null,
      label_note: null,
      label_types: null,
      label_by: null,
    });
  }

  const rows = await readParquet((await download(`/runs/${run.id}/results.parquet`)).bytes);
  expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(parsed[0] ?? {}));
  expect(rows).toMatchObject([
    { output: '=A', score: '0.1', passed: 'true', usage: '{"input_tokens":3}', latency_ms: '12.5' },
    { output: null, score: null, passed: null, error: '{"code":"c","message":"m"}' },
    { output: '{"n":12345678901234567890.5}', item_id: 'n' },
  ]);
  const csv = await download(`/runs/${run.id}/results.csv?columns=output,score,passed,item_id`);
  expect(csv.text).toBe(
    'output,score,passed,item_id\n=A,0.1,true,7\n,,,two\n"{""n"":12345678901234567890.5}",1,true,n\n',
  );
  const excel = await download(`/runs/${run.id}/results.csv?columns=output,score&excel=true`);
  expect(excel.text.startsWith("\ufeffoutput,score\n'=A,0.1\n")).toBe(true);
});

/** Prints the rows of a Parquet file, each value as its text. */
const PYTHON = `
import json, sys, pyarrow.parquet
text = lambda value: value if value is None or isinstance(value, str) else json.dumps(value)
rows = pyarrow.parquet.read_table(sys.argv[1]).to_pylist()
print(json.dumps([{name: text(value) for name, value in row.items()} for row in rows]))
`;
const { status } = spawnSync('python3', ['-c', 'import pyarrow.parquet']);

it.skipIf(status !== 0)(
  'gives Parquet that pyarrow reads as DuckDB does (skipped without pyarrow)',
  async () => {
    for (const path of [`/datasets/${dataset.id}/items.parquet`, `/runs/${run.id}/results.parquet`]) {
      const rows = await readParquet((await download(path)).bytes);
      const { stdout, stderr } = spawnSync('python3', ['-c', PYTHON, join(folder, 'table.parquet')], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      expect(JSON.parse(stdout)).toEqual(rows);
    }
  },
);

it('chooses and orders columns, and names them when one is unknown', async () => {
  const items = `/datasets/${dataset.id}/items`;
  expect((await download(`${items}.csv?columns=answer,id&section=b`)).text).toBe(
    'answer,id\n12345678901234567890.5,n\n',
  );
  expect((await download(`${items}.csv?columns=item&section=b`)).text).toBe(
    `item\n"${EXACT.replaceAll('"', '""')}"\n`,
  );
  for (const columns of ['prompts', '', 'id,', 'id,id']) {
    const refused = await download(`${items}.parquet?columns=${columns}`);
    const body = JSON.parse(refused.text);
    expect([refused.status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.detail).toMatch(/Columns are: section, order_index, .*assets, item\.|named twice/);
  }
  expect(JSON.parse((await download(`${items}.parquet?excel=true`)).text)).toMatchObject({
    code: 'invalid_request',
  });
  expect((await download(`${items}.csv?section=none`)).status).toBe(404);
  expect((await download(`/runs/${dataset.id}/results.csv`)).status).toBe(404);
});

it('gives the same bytes and tag each time, other tags for other tables, and 304 for a known one', async () => {
  const tags = new Set<string | null>();
  const paths = [
    `/datasets/${dataset.id}/items.csv`,
    `/datasets/${dataset.id}/items.csv?excel=true`,
    `/datasets/${dataset.id}/items.csv?section=a`,
    `/datasets/${dataset.id}/items.csv?columns=id`,
    `/datasets/${dataset.id}/items.parquet`,
    `/runs/${run.id}/results.jsonl`,
    `/runs/${run.id}/results.csv`,
    `/runs/${run.id}/results.parquet`,
  ];
  for (const path of paths) {
    const identity = { 'Accept-Encoding': 'identity' };
    const [first, second] = [await download(path, identity), await download(path, identity)];
    expect(first.bytes.equals(second.bytes)).toBe(true);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/);
    tags.add(etag);
    expect((await download(path, { 'If-None-Match': etag })).status).toBe(304);
    const head = await fetch(`${api.url}${path}`, { method: 'HEAD', headers: identity });
    expect([head.status, head.headers.get('etag')]).toEqual([200, etag]);
  }
  expect(tags.size).toBe(paths.length);
  const packed = await download(paths[0] ?? '', { 'Accept-Encoding': 'gzip' });
  expect(packed.headers.get('vary')).toContain('Accept-Encoding');
});

it('frees its connection when the client leaves, and writes a large table at the pace of its reader', async () => {
  const text = Array.from({ length: 18_000 }, (_, n) => (n * n).toString(36)).join(' ');
  const lines = Array.from({ length: 60 }, (_, n) =>
    JSON.stringify({ id: n, inputs: { prompt: `${n} ${text}` } }),
  );
  const body = uploadForm(await makePackage({ 'sections/large.jsonl': lines.join('\n') }), { name: 'large' });
  const large = (await (await fetch(`${api.url}/datasets/upload`, { method: 'POST', body })).json()) as {
    id: string;
  };
  // more than the streams that one client may have open
  for (let round = 0; round < 12; round += 1) {
    const tables = [
      `datasets/${large.id}/items.csv`,
      `datasets/${large.id}/items.parquet`,
      `runs/${run.id}/results.parquet`,
    ];
    const path = `${api.url}/${tables[round % tables.length]}`;
    const [response] = await once(get(path), 'response');
    await once(response, 'readable');
    response.destroy();
  }
  const whole = await download(`/datasets/${large.id}/items.parquet?columns=id,prompt`);
  const rows = await readParquet(whole.bytes);
  expect(rows.map(({ id }) => id)).toEqual(lines.map((_, n) => String(n)));
  expect(rows.every(({ prompt }, n) => prompt === `${n} ${text}`)).toBe(true);
});
