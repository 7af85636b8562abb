import { gzipSync } from 'node:zlib';
import { createHubClient, type HubClient } from '@svc/hub-client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { queryDatabase } from '../../../packages/service/test/store/query-database.ts';
import { times } from '../../../tools/vitest/long.ts';
import { until } from '../../../tools/vitest/until.ts';
import { makePackage } from '../../api/test/make-package.ts';
import { parquetOf } from '../../api/test/parquet-of.ts';
import { mutate, mutations } from '../../standalone/test/faults/mutate-bytes.ts';
import { type Body, startTestService, type TestResponse, type TestService } from './start-test-service.ts';

let hub: FakeHub;
let client: HubClient;
let service: TestService;
beforeAll(async () => {
  hub = await startFakeHub();
  client = createHubClient({ endpoint: hub.endpoint });
  service = await startTestService({
    hub: client,
    env: { HUB_ENDPOINT: hub.endpoint, SVC_MAX_LINE_BYTES: '4000', SVC_MAX_UNCOMPRESSED_BYTES: '20000000' },
  });
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await client.close();
  await hub[Symbol.asyncDispose]();
});

type Content = string | Uint8Array<ArrayBufferLike>;
type Files = Readonly<Record<string, Content>>;
/** One import, which can be sent several times. */
interface Import {
  readonly path: '/datasets/upload' | '/datasets/hub/import';
  readonly body: () => object | FormData;
}

const uploadOf = (files: Files, fields: Readonly<Record<string, unknown>> = {}): Import => ({
  path: '/datasets/upload',
  body: () => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
    for (const [name, content] of Object.entries(files)) {
      form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
    }
    return form;
  },
});

const hubImportOf = (path: string, mapping: object): Import => ({
  path: '/datasets/hub/import',
  body: () => ({ name: 'from the hub', config: { path }, mapping }),
});

const importOf = async (files: Files): Promise<Import> => uploadOf({ 'a.pkg.zip': await makePackage(files) });

const storedRows = async (): Promise<unknown> =>
  await queryDatabase(
    service.databaseUrl,
    `SELECT (SELECT count(*) FROM datasets) AS datasets, (SELECT count(*) FROM sections) AS sections,
       (SELECT count(*) FROM items) AS items, (SELECT count(*) FROM runs) AS runs,
       (SELECT count(*) FROM assets a WHERE NOT EXISTS (SELECT FROM hub_contents c WHERE c.sha256 = a.sha256)) AS assets`,
  );

/** What an error names: the sentence, and its place. */
const places = (errors: readonly Body[] = []): unknown =>
  errors.map(({ message, file, line, column, row, path }) => ({
    ...{ message: String(message).replace(/\.$/, ''), file, line, column, row, path },
  }));

/** What the record of a dataset keeps of skipped rows. */
const skippedRows = (skipped: Body): unknown =>
  skipped?.rows.map(({ file, row, message }: Body) => ({ file, row, message }));

/** What a client may see of a refusal. */
const refusal = ({ status, body }: { readonly status: number; readonly body: Body }): unknown => ({
  ...{ status, code: body.code, detail: body.detail, errors: places(body.errors) },
  total: body.errors_total ?? body.errors?.length ?? 0,
});

/** Sends one import as a dry run, within a request and as a job. All of them must find the same. */
async function expectOneImport({ path, body }: Import): Promise<{ dry: TestResponse; real: TestResponse }> {
  const before = await storedRows();
  const dry = await service.post(`${path}?dry_run=true`, body());
  expect(await storedRows()).toEqual(before);
  const real = await service.post(path, body());
  const seen = JSON.stringify({ dry: dry.body, real: real.body });
  expect(real.status, seen).toBeLessThan(500);
  if (real.status === 201) {
    const { item_count, version_hash, schema } = real.body;
    expect(dry, seen).toMatchObject({ status: 200, body: { item_count, version_hash, errors_total: 0 } });
    expect(dry.body.skipped?.count, seen).toBe(schema.skipped?.count);
    expect(skippedRows(dry.body.skipped), seen).toEqual(skippedRows(schema.skipped));
  } else {
    expect(await storedRows(), seen).toEqual(before);
    if (dry.status === 200) {
      expect(dry.body.version_hash, seen).toBeNull();
      expect(dry.body.errors_total, seen).toBe(real.body.errors_total ?? 1);
      expect(places(dry.body.errors), seen).toEqual(places(real.body.errors));
    } else expect(refusal(dry), seen).toEqual(refusal(real));
  }
  await expectJob({ path, body }, real, before);
  return { dry, real };
}

async function expectJob({ path, body }: Import, real: TestResponse, before: unknown): Promise<void> {
  const accepted = await service.post(path, body(), { prefer: 'respond-async' });
  if (accepted.status !== 202) {
    expect(refusal(accepted)).toEqual(refusal(real));
    return;
  }
  const { body: job } = await until(
    () => service.get(`/jobs/${accepted.body.id}`),
    ({ body: found }) => found.finished_at !== null,
  );
  const seen = JSON.stringify({ job, real: real.body });
  if (real.status === 201) {
    expect(job.status, seen).toBe('succeeded');
    const { body: dataset } = await service.get(`/datasets/${job.dataset_id}`);
    const { item_count, version_hash, schema } = real.body;
    expect(dataset, seen).toMatchObject({ item_count, version_hash, schema });
    return;
  }
  expect(job.status, seen).toBe('failed');
  expect(refusal({ status: job.error.status, body: job.error }), seen).toEqual(refusal(real));
  expect(await storedRows(), seen).toEqual(before);
}

const MANIFEST = { format: 'svc-pkg', format_version: '2.3', name: 'A name' };
const PACKAGE = {
  'manifest.json': JSON.stringify(MANIFEST),
  'meta.json': JSON.stringify({ description: 'D', notes: 'N' }),
  'sections/a.jsonl': '{"id":"1","inputs":{"prompt":"one"}}\n{"id":"2"}\n',
  'sections/b.jsonl': '{"id":"3","assets":{"x":"assets/x.txt"}}\n',
  'assets/x.txt': 'text',
};

describe('a dry run of a package is the upload', () => {
  it.each<[string, Files]>([
    ['a name of blanks', { 'manifest.json': JSON.stringify({ ...MANIFEST, name: '   ' }) }],
    ['a name of 300 characters', { 'manifest.json': JSON.stringify({ ...MANIFEST, name: 'n'.repeat(300) }) }],
    ['a description with U+0000', { 'meta.json': JSON.stringify({ description: 'a\0b' }) }],
  ])('that it refuses for %s', async (_, files) => {
    const { dry, real } = await expectOneImport(await importOf({ ...PACKAGE, ...files }));
    expect([dry.status, real.status]).toEqual([400, 400]);
  });

  it('lists every faulty line of every section', async () => {
    const files = {
      'sections/a.jsonl': '{"id":1}\n{"id":\n[]\n{"id":2}\n',
      'sections/b.jsonl': `{"id":3}\n{"id":"${'x'.repeat(5000)}"}\n`,
      'sections/c.jsonl': '{"id":4,"id":5}\n',
    };
    const { dry, real } = await expectOneImport(await importOf({ ...PACKAGE, ...files }));
    expect(real.body).toMatchObject({ status: 400, code: 'package_invalid_line', errors_total: 4 });
    expect(dry.body).toMatchObject({ item_count: 3, errors_total: 4 });
  });

  it('whatever its files hold', { timeout: 300_000 }, async () => {
    const line = fc.constantFrom(
      ...['{"id":"x"}', '{"id":7,"answer":1.50}', '', '{"id":', '[]', '{"a":1,"a":2}', '{"inputs":3}'],
      ...['{"assets":{"x":"assets/x.txt"}}', '{"assets":{"x":"assets/none.txt"}}', `"${'x'.repeat(5000)}"`],
      ...['{"inputs":{"prompt":"\\u0000"}}', '{"id":"\\ud800"}', `${'['.repeat(300)}`],
    );
    const section = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
    const text = fc.constantFrom('', ' ', 'n', '😀'.repeat(200), 'n'.repeat(256), 'a\0b', '\ud800', '\u0007');
    const files = fc.record(
      {
        'manifest.json': fc
          .record(
            { name: text, version_hash: fc.constantFrom('0'.repeat(64), 7), sections: fc.json() },
            { requiredKeys: [] },
          )
          .map((manifest) => JSON.stringify({ format: 'svc-pkg', hash_spec: 'svc-items-1', ...manifest })),
        'meta.json': fc.record({ description: text, notes: text }).map((meta) => JSON.stringify(meta)),
        'sections/a.jsonl': section,
        'sections/b.jsonl': section,
        'sections/c.jsonl': section,
        'assets/x.txt': fc.constant('text'),
        'results.jsonl': fc.constantFrom(
          '',
          '{"section":"a","order_index":0,"status":"ok"}',
          '{"section":"z"}',
          '[',
        ),
        'run_config.json': fc.constantFrom('{}', '[]', '{"provider":{"type":"echo"}}'),
      },
      { requiredKeys: ['sections/a.jsonl'] },
    );
    await fc.assert(
      fc.asyncProperty(files, async (found) => {
        await expectOneImport(await importOf(found));
      }),
      { numRuns: times(400, 15) },
    );
  });

  it('whatever happens to its bytes', { timeout: 300_000 }, async () => {
    const archive = await makePackage(PACKAGE);
    await fc.assert(
      fc.asyncProperty(mutations(['PK\x03\x04', 'PK\x01\x02', '\n', '{}']), async (changes) => {
        await expectOneImport(uploadOf({ 'a.pkg.zip': mutate(archive, changes) }));
      }),
      { numRuns: times(400, 15) },
    );
  });
});

const CELLS = ['x', '1', '007', '', 'null', '"', 'a,b', '"a""b"', '"a\nb"', '1.5', '\0', '\ud800', '{"a":1}'];
const MAPPINGS = [
  { prompt_column: 'q' },
  { prompt_column: 'q', answer_column: 'a', invalid_rows: 'skip' },
  { prompt_column: 'q', answer_column: 'a', types: { a: 'int64' } },
  { prompt_column: 'q', answer_column: 'a', types: { a: 'int64' }, invalid_rows: 'skip' },
  { prompt_template: '{q} {a}', answer_pattern: '(x)' },
  { prompt_column: 'q', assets_column: 'a' },
  { prompt_column: 'none', id_column: 'a' },
] as const;

const mapping = fc.constantFrom(...MAPPINGS);
const cell = fc.constantFrom(...CELLS);
const csv = fc
  .array(
    fc.array(cell, { minLength: 1, maxLength: 3 }).map((cells) => cells.join(',')),
    { maxLength: 6 },
  )
  .map((rows) => ['q,a', ...rows].join('\n'));
const jsonl = fc
  .array(
    fc.oneof(
      fc
        .record({ q: fc.oneof(cell, fc.integer(), fc.constant(null)), a: fc.jsonValue() })
        .map((row) => JSON.stringify(row)),
      fc.constantFrom('{"q":', '[]', '', '{"q":"x","q":"y"}', `{"q":"${'x'.repeat(5000)}"}`),
    ),
    { maxLength: 6 },
  )
  .map((lines) => lines.join('\n'));
const json = fc.oneof(
  jsonl.map((lines) => `[${lines.replaceAll('\n', ',')}]`),
  fc.json(),
);

describe('a dry run of files is the upload', () => {
  it.each<[string, Files, object]>([
    [
      'an invalid row, and a row after which a file cannot be read',
      { 'a.csv': 'q,a\n,1\nx,1\n"y,1', 'b.csv': 'q\n1,2' },
      MAPPINGS[0],
    ],
    [
      'rows that are skipped before a file that ends in a quote',
      { 'a.csv': 'q,a\nx,1,2\n"y,1' },
      MAPPINGS[1],
    ],
  ])('with %s', async (_, files, chosen) => {
    const { real } = await expectOneImport(uploadOf(files, { mapping: chosen }));
    expect(real.status).toBe(400);
  });

  it('whatever its rows hold', { timeout: 300_000 }, async () => {
    const one = fc.oneof(
      csv.map((text): [string, Content] => ['csv', text]),
      csv.map((text): [string, Content] => ['csv.gz', gzipSync(text)]),
      jsonl.map((text): [string, Content] => ['jsonl', text]),
      json.map((text): [string, Content] => ['json', text]),
    );
    const files = fc
      .array(one, { minLength: 1, maxLength: 3 })
      .map((all) => Object.fromEntries(all.map(([type, content], index) => [`${index}.${type}`, content])));
    await fc.assert(
      fc.asyncProperty(files, fc.option(mapping), fc.boolean(), async (found, chosen, isZip) => {
        const sent = isZip ? { 'all.zip': await makePackage(found) } : found;
        await expectOneImport(uploadOf(sent, chosen === null ? {} : { mapping: chosen }));
      }),
      { numRuns: times(60, 20) },
    );
  });

  it('whatever happens to the bytes of a Parquet file', { timeout: 300_000 }, async () => {
    const parquet = await parquetOf([
      { q: 'one', a: 1 },
      { q: 'two', a: 2 },
    ]);
    await fc.assert(
      fc.asyncProperty(mutations(['PAR1', '\0']), mapping, async (changes, chosen) => {
        await expectOneImport(uploadOf({ 'a.parquet': mutate(parquet, changes) }, { mapping: chosen }));
      }),
      { numRuns: times(20, 8) },
    );
  });
});

describe('a dry run of a hub dataset is the import', () => {
  it('whatever its rows hold', { timeout: 300_000 }, async () => {
    let count = 0;
    const file = fc.oneof(
      csv.map((text): [string, Content] => ['train.csv', text]),
      jsonl.map((text): [string, Content] => ['train.jsonl', text]),
    );
    await fc.assert(
      fc.asyncProperty(file, mapping, async ([name, content], chosen) => {
        count += 1;
        hub.add({ id: `org/data-${count}`, files: { [name]: content } });
        await expectOneImport(hubImportOf(`org/data-${count}`, chosen));
      }),
      { numRuns: times(40, 15) },
    );
  });
});
