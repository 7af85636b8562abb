import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { makePackage } from './make-package.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

/** What a table becomes is bounded, on every way in, whether it is stored or not. */

const MIB = 1024 * 1024;
const ROWS = 200;
const lines = (count: number, line: (row: number) => string): string =>
  Array.from({ length: count }, (_, row) => line(row)).join('');

let hub: FakeHub;
let small: TestApi;
let api: TestApi;
beforeAll(async () => {
  hub = await startFakeHub();
  const hostile = lines(1200, () => `${'x'.repeat(62_000)}\n`);
  hub.add({ id: 'org/rows', files: { 'data.csv': `a\n${lines(ROWS + 1, () => '1\n')}` } });
  hub.add({ id: 'org/few', files: { 'data.csv': `a\n${lines(ROWS, () => '1\n')}` } });
  hub.add({ id: 'org/repeated', files: { 'data.csv.gz': gzipSync(`a\n${hostile}`) } });
  small = await startTestApi({
    HUB_ENDPOINT: hub.endpoint,
    SVC_MAX_ROWS: String(ROWS),
    SVC_MAX_UNCOMPRESSED_BYTES: '100000',
  });
  api = await startTestApi({ HUB_ENDPOINT: hub.endpoint });
});
afterAll(async () => {
  await Promise.all([small[Symbol.asyncDispose](), api[Symbol.asyncDispose]()]);
  await hub.close();
});

interface Answer {
  readonly status: number;
  readonly body: { readonly code?: string; readonly detail?: string; readonly errors?: readonly object[] };
}

async function upload(
  to: TestApi,
  content: string | Uint8Array,
  mapping: object | null,
  path = '/datasets/upload',
): Promise<Answer> {
  const form = new FormData();
  if (mapping !== null) {
    form.append('mapping', JSON.stringify(mapping));
    form.append('format', 'csv');
  }
  form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), 'table');
  const response = await fetch(`${to.url}${path}`, { method: 'POST', body: form });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function importHub(
  to: TestApi,
  id: string,
  mapping: object,
  path = '/datasets/hub/import',
): Promise<Answer> {
  const config = { path: id, split: 'train' };
  const body = path.endsWith('preview') ? { ...config, mapping } : { name: 'x', config, mapping };
  const response = await fetch(`${to.url}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const countDatasets = async ({ url }: TestApi): Promise<number> =>
  ((await (await fetch(`${url}/datasets?limit=1`)).json()) as { meta: { total_items: number } }).meta
    .total_items;

const csv = (count: number, field = '1'): string => `a\n${lines(count, () => `${field}\n`)}`;
const limitOf = (variable: string): object => ({
  status: 400,
  body: { code: 'package_limit', detail: expect.stringContaining(variable) },
});

describe('limits of what an import makes', () => {
  it('SVC_MAX_ROWS counts rows of uploads and of the hub, and those that are skipped', async () => {
    const plain = { prompt_template: 'x' };
    const skipping = { prompt_column: 'a', types: { a: 'bool' }, invalid_rows: 'skip' };
    for (const mapping of [plain, skipping]) {
      for (const query of ['?dry_run=true', '']) {
        expect(await upload(small, csv(ROWS + 1), mapping, `/datasets/upload${query}`)).toMatchObject(
          limitOf('SVC_MAX_ROWS'),
        );
        expect(await importHub(small, 'org/rows', mapping, `/datasets/hub/import${query}`)).toMatchObject(
          limitOf('SVC_MAX_ROWS'),
        );
      }
      expect((await upload(small, csv(ROWS), mapping, '/datasets/upload?dry_run=true')).status).toBe(200);
    }
    expect(
      await upload(
        small,
        lines(ROWS + 1, () => '{"inputs":{}}\n'),
        null,
      ),
    ).toMatchObject(limitOf('SVC_MAX_ROWS'));
    expect(await countDatasets(small)).toBe(0);
  });

  it('SVC_MAX_UNCOMPRESSED_BYTES counts the texts of items, and the error names the row', async () => {
    const mapping = { prompt_template: '{a}'.repeat(10) };
    for (const query of ['?dry_run=true', '']) {
      const refused = await upload(small, csv(ROWS, 'y'.repeat(100)), mapping, `/datasets/upload${query}`);
      expect(refused).toMatchObject(limitOf('SVC_MAX_UNCOMPRESSED_BYTES'));
      expect(refused.body.errors).toMatchObject([{ file: 'table', row: expect.any(Number) }]);
    }
    const constant = { prompt_template: 'x', checker: { pattern: 'z'.repeat(1000) } };
    expect(await importHub(small, 'org/few', constant)).toMatchObject(limitOf('SVC_MAX_UNCOMPRESSED_BYTES'));
    expect(
      await upload(
        small,
        lines(50, (row) => `{"id":${row},"inputs":{},"answer":"${'x'.repeat(3000)}"}\n`),
        null,
      ),
    ).toMatchObject(limitOf('SVC_MAX_UNCOMPRESSED_BYTES'));
    expect(await countDatasets(small)).toBe(0);
  });

  it.runIf(IS_LONG)(
    'SVC_MAX_EXPANSION_RATIO compares items with the bytes of the files, past the first 64 MiB',
    async () => {
      const mapping = { prompt_column: 'a' };
      const compressed = gzipSync(csv(1200, 'x'.repeat(62_000)));
      expect(compressed.byteLength * 500).toBeLessThan(64 * MIB + MIB);
      const refused = await upload(api, compressed, { ...mapping, meta_columns: ['a'] });
      expect(refused).toMatchObject(limitOf('SVC_MAX_EXPANSION_RATIO'));
      expect(await importHub(api, 'org/repeated', mapping)).toMatchObject(limitOf('SVC_MAX_EXPANSION_RATIO'));
      // 1,000 rows are 62 MB.
      const allowed = gzipSync(csv(1000, 'x'.repeat(62_000)));
      expect((await upload(api, allowed, mapping, '/datasets/upload?dry_run=true')).status).toBe(200);
      expect(await countDatasets(api)).toBe(0);
    },
  );
});

describe('tables in an archive', () => {
  it('are compared with the bytes that were sent: ratios do not multiply', async () => {
    const mapping = { prompt_template: `${'x'.repeat(700)}{a}` };
    const zip = await makePackage({ 'a.csv': csv(100_000, '1'), 'b.csv': 'a\n2\n' }, 'DEFLATE');
    expect(zip.byteLength).toBeLessThan(10_000);
    for (const path of ['/datasets/upload?dry_run=true', '/datasets/upload']) {
      expect(await upload(api, zip, mapping, path)).toMatchObject(limitOf('SVC_MAX_EXPANSION_RATIO'));
    }
  });
});

describe('bounds of a mapping', () => {
  const KIB_60 = 'x'.repeat(60 * 1024);
  it.each<[string, Record<string, unknown>]>([
    ['checker', { prompt_column: 'a', checker: { x: 'y'.repeat(900_000) } }],
    ['tags', { prompt_column: 'a', tags: [KIB_60, `${KIB_60}1`] }],
    ['prompt_template', { prompt_template: `${KIB_60}{a}`, tags: ['x'.repeat(5000)] }],
    ['prompt_template', { prompt_template: '{a}'.repeat(21) }],
    [
      'meta_columns',
      {
        prompt_column: 'a',
        meta_columns: Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`k${n}`, 'a'])),
      },
    ],
  ])('refuse %s in imports, dry runs and previews', async (key, mapping) => {
    const expected = {
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: `/mapping/${key}` }] },
    };
    for (const path of [
      '/datasets/hub/import',
      '/datasets/hub/import?dry_run=true',
      '/datasets/hub/preview',
    ]) {
      expect(await importHub(api, 'org/rows', mapping, path)).toMatchObject(expected);
    }
    // A field of a form has at most 64 KiB.
    if (JSON.stringify(mapping).length > 64 * 1024) return;
    for (const path of ['/datasets/upload', '/datasets/upload?dry_run=true', '/datasets/upload/preview']) {
      expect(await upload(api, csv(3), mapping, path)).toMatchObject(expected);
    }
  });

  it('allow a thousand different columns', async () => {
    const names = Array.from({ length: 1000 }, (_, n) => `column ${n}`);
    const table = `${names.join(',')}\n${names.map(() => 'v').join(',')}\n`;
    const mapping = { prompt_column: names[0], meta_columns: names };
    expect((await upload(api, table, mapping)).status).toBe(201);
  });
});

describe('compressed tables', () => {
  it.runIf(IS_LONG)(
    'count what comes out of them, also while only the types of columns are looked for',
    async () => {
      // The first value is a number, and the last is not: the types of all rows are read.
      const table = gzipSync(`a,b\n1,${'x'.repeat(1000)}\n${'1,\n'.repeat(25_000_000)}x,\n`);
      const mapping = { prompt_column: 'b', invalid_rows: 'skip' };
      const refused = await upload(api, table, mapping, '/datasets/upload?dry_run=true');
      expect(refused).toMatchObject({ status: 400, body: { code: 'package_limit' } });
      const members = await upload(
        small,
        gzipSync(csv(100_000)),
        { prompt_template: 'x' },
        '/datasets/upload/preview',
      );
      expect(members).toMatchObject({
        status: 400,
        body: {
          code: 'package_limit',
          detail: expect.stringContaining('more than 100000 bytes come out of its'),
          errors: [{ file: 'table' }],
        },
      });
      expect(members.body.detail).toContain('(SVC_MAX_UNCOMPRESSED_BYTES, SVC_MAX_EXPANSION_RATIO).');
    },
    120_000,
  );
});
