import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FakeHub, startFakeHub } from '../../../packages/hub-client/test/fake-hub.ts';
import { buildZip } from '../../../packages/pkg-format/test/build-zip.ts';
import { writeParquet } from '../../../packages/tabular/src/write/index.ts';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { startTestApi, type TestApi } from './start-test-api.ts';

/** Whatever a way in accepts at the default limits, its export's upload accepts, with the same hash. */

const RUNS = IS_LONG ? 50 : 3;

let hub: FakeHub;
let api: TestApi;
beforeAll(async () => {
  hub = await startFakeHub();
  api = await startTestApi({ HUB_ENDPOINT: hub.endpoint });
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  await hub.close();
});

/** To make a sample takes this process so long that the service may have closed an idle connection. */
const ALONE = { Connection: 'close' };

type Content = string | Uint8Array;
type Json = Record<string, unknown>;

interface Answer {
  readonly status: number;
  readonly body: { readonly id?: string; readonly version_hash?: string; readonly code?: string };
}

async function upload(
  files: Readonly<Record<string, Content>>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  for (const [name, content] of Object.entries(files)) {
    form.append('file', new Blob([content as Uint8Array<ArrayBuffer>]), name);
  }
  const response = await fetch(`${api.url}/datasets/upload`, { method: 'POST', headers: ALONE, body: form });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

async function importHub(name: string, content: Content, mapping: Json): Promise<Answer> {
  const path = `org/d${hubCount}`;
  hubCount += 1;
  hub.add({ id: path, files: { [name]: content } });
  const response = await fetch(`${api.url}/datasets/hub/import`, {
    method: 'POST',
    headers: { ...ALONE, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'x', config: { path, split: 'train' }, mapping }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}
let hubCount = 0;

// What items are made of.

const noise = (seed: number, bytes: number): Buffer => {
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes; at += 32) blocks.push(createHash('sha256').update(`${seed} ${at}`).digest());
  return Buffer.concat(blocks).subarray(0, bytes);
};
const content = fc.oneof(
  fc.tuple(fc.nat(9), fc.constantFrom(0, 1, 1000, 140_000)).map(([seed, bytes]) => noise(seed, bytes)),
  fc
    .tuple(fc.nat(9), fc.constantFrom(1, 100_000, 1_500_000))
    .map(([byte, bytes]) => Buffer.alloc(bytes, byte)),
  fc.string({ unit: 'binary', maxLength: 20 }).map((text) => Buffer.from(text.toWellFormed())),
);
const word = fc.string({ unit: 'grapheme', maxLength: 12 });
const text = fc.oneof(
  { weight: 8, arbitrary: word },
  { weight: 1, arbitrary: word.map((unit) => unit.repeat(50_000)) },
);
/** Nested as deep as a line may be, and a little less or more. */
const nested = fc.integer({ min: 1, max: 257 }).map((depth) => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
});
const anyJson = fc.oneof(
  { weight: 8, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: nested },
);
const extension = fc.constantFrom('.png', '.txt', '.bin', '', '.PNG');

interface SharedFile {
  readonly path: string;
  readonly content: Buffer;
}
const sharedFiles = fc
  .array(fc.record({ content, extension, name: fc.constantFrom('a', 'é', 'x y', 'long'.repeat(30)) }), {
    maxLength: 4,
  })
  .map((files) =>
    files.map(
      ({ content, extension, name }, index): SharedFile => ({
        path: `${index}/${name}${extension}`,
        content,
      }),
    ),
  );

const common = {
  id: fc.option(fc.oneof(word, fc.maxSafeInteger()), { nil: undefined }),
  meta: fc.option(fc.dictionary(word, anyJson, { maxKeys: 3 }), { nil: undefined }),
  tags: fc.option(fc.array(word, { maxLength: 3 }), { nil: undefined }),
  criteria: fc.option(fc.array(fc.oneof(word, fc.dictionary(word, fc.nat())), { maxLength: 2 }), {
    nil: undefined,
  }),
  system: fc.option(word, { nil: undefined }),
};
const item = fc.oneof(
  fc.record({
    ...common,
    type: fc.constantFrom('freeform', undefined, 'essay'),
    prompt: text,
    answer: anyJson,
  }),
  fc.record({
    ...{ ...common, type: fc.constant('multiple_choice'), prompt: text },
    ...{ choices: fc.array(fc.oneof(word, fc.nat()), { minLength: 1, maxLength: 4 }), answer: fc.nat(3) },
  }),
  fc.record({ ...common, type: fc.constant('exact'), prompt: text, answer: word }),
  fc.record({
    ...common,
    type: fc.constant('numeric'),
    prompt: text,
    answer: fc.double({ noNaN: true, noDefaultInfinity: true }),
  }),
  fc.record({
    ...common,
    type: fc.constant('code'),
    prompt: text,
    answer: text,
    checker: fc.constant('checkers/run.py'),
  }),
) as fc.Arbitrary<Json & { readonly prompt: string }>;

interface Sample {
  readonly items: readonly (Json & { readonly prompt: string })[];
  /** How often the items come. */
  readonly copies: number;
  readonly files: readonly SharedFile[];
  readonly isStored: boolean;
}
/** Long items are not copied as often: copies of a long text take the time, and find nothing that one does not. */
const MAX_SAMPLE_LENGTH = 5_000_000;
const sample: fc.Arbitrary<Sample> = fc
  .record({
    items: fc.array(item, { minLength: 1, maxLength: 6 }),
    copies: fc.constantFrom(1, 1, 1, 3, IS_LONG ? 120 : 20),
    files: sharedFiles,
    isStored: fc.boolean(),
  })
  .map((made) => {
    const most = Math.ceil(MAX_SAMPLE_LENGTH / JSON.stringify(made.items).length);
    return { ...made, copies: Math.min(made.copies, most) };
  });

const withoutAbsent = (item: Json): Json =>
  Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined));

/** The items as they are in a package; `assetsOf` gives their assets. */
function itemsOf({ items, copies }: Sample, assetsOf: (index: number) => unknown): Json[] {
  return Array.from({ length: items.length * copies }, (_, index) => {
    const { prompt, choices, system, ...rest } = items[index % items.length] as Json;
    const inputs = withoutAbsent({ prompt, choices, system_prompt: system });
    return withoutAbsent({ ...rest, inputs, assets: assetsOf(index) });
  });
}

const linesOf = (values: readonly unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('');
const entry = (name: string, content: Content, isStored: boolean) => ({
  ...{ name, content },
  method: isStored ? ('stored' as const) : ('deflated' as const),
});

function packageOf(sample: Sample): Uint8Array {
  const { files, isStored } = sample;
  const items = itemsOf(sample, (index) => {
    if (files.length === 0) return undefined;
    const paths = files.map(({ path }) => `assets/${path}`);
    return index % 2 === 0
      ? paths
      : Object.fromEntries(paths.map((path, at) => [`f${at}`, { path, alt: 'x' }]));
  });
  const half = Math.ceil(items.length / 2);
  return buildZip({
    entries: [
      entry('sections/a.jsonl', linesOf(items.slice(0, half)), isStored),
      entry('sections/b é.jsonl', linesOf(items.slice(half)), false),
      ...files.map(({ path, content }) => entry(`assets/${path}`, content, isStored)),
      entry('checkers/run.py', 'print(1)', false),
    ],
  });
}

function legacyOf(sample: Sample): Uint8Array {
  const { files, isStored } = sample;
  const items = itemsOf(sample, (index) =>
    files.length === 0
      ? undefined
      : files.map(({ path, content }, at) =>
          (index + at) % 7 === 6 && content.length < 10_000
            ? { content_type: 'image/png', data: content.toString('base64') }
            : { file: `pics/${path}` },
        ),
  ).map(({ inputs, checker, ...rest }) => ({ ...rest, system: 's', question: (inputs as Json)['prompt'] }));
  return buildZip({
    entries: [
      entry('data/a.jsonl', linesOf(items), isStored),
      ...files.map(({ path, content }) => entry(`pics/${path}`, content, isStored)),
    ],
  });
}

/** Rows of a table; cells that are no texts are in JSON. */
function rowsOf({ items, copies, files }: Sample): Json[] {
  const assets: Json = {};
  for (const [index, { content }] of files.entries()) {
    // A table holds its files in its rows.
    if (content.length > 200_000) continue;
    assets[`f${index}`] = { mime_type: 'image/png', encoding: 'base64', data: content.toString('base64') };
  }
  return Array.from({ length: items.length * Math.min(copies, 3) }, (_, index) => {
    const { prompt, answer, id, tags, meta } = items[index % items.length] as Json;
    return { prompt, answer: answer ?? null, id: id ?? null, tags: tags ?? [], meta: meta ?? {}, assets };
  });
}

const MAPPING = {
  prompt_column: 'prompt',
  answer_column: 'answer',
  tags_columns: ['tags'],
  meta_columns: ['meta'],
  assets_column: 'assets',
  id_column: 'id',
};
/** The same for cells that are texts. */
const TEXT_MAPPING = {
  ...MAPPING,
  types: { prompt: 'string', answer: 'json', tags: 'json', meta: 'json', id: 'json' },
};

const cell = (value: unknown): string =>
  `"${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll('"', '""')}"`;
const separated = (rows: readonly Json[], separator: string): string =>
  [
    Object.keys(rows[0] ?? {}),
    ...rows.map((row) => [
      row['prompt'],
      ...Object.entries(row)
        .slice(1)
        .map(([, value]) => JSON.stringify(value)),
    ]),
  ]
    .map((cells) => `${cells.map(cell).join(separator)}\n`)
    .join('');

async function parquetOf(rows: readonly Json[]): Promise<Buffer> {
  const columns = Object.keys(rows[0] ?? {}).map((name) => ({
    name,
    type: name === 'prompt' ? ('string' as const) : ('json' as const),
    json: (row: Json) => JSON.stringify(row[name]),
  }));
  async function* batches() {
    yield rows;
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of writeParquet(batches(), columns)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const WAYS: Readonly<Record<string, (sample: Sample) => Promise<Answer>>> = {
  package: (sample) => upload({ 'a.pkg.zip': packageOf(sample) }),
  'older archive': (sample) => upload({ 'a.zip': legacyOf(sample) }, { convert: 'true' }),
  'lines of items': (sample) =>
    upload({
      'a.jsonl': linesOf(
        itemsOf(
          { ...sample, copies: Math.min(sample.copies, 3) },
          (index) => rowsOf(sample)[index]?.['assets'],
        ),
      ),
    }),
  csv: (sample) => upload({ 'a.csv': separated(rowsOf(sample), ',') }, { mapping: TEXT_MAPPING }),
  tsv: (sample) => upload({ 'a.tsv': separated(rowsOf(sample), '\t') }, { mapping: TEXT_MAPPING }),
  json: (sample) => upload({ 'a.json': JSON.stringify(rowsOf(sample)) }, { mapping: MAPPING }),
  'lines of rows': (sample) => upload({ 'a.jsonl': linesOf(rowsOf(sample)) }, { mapping: MAPPING }),
  parquet: async (sample) => upload({ 'a.parquet': await parquetOf(rowsOf(sample)) }, { mapping: MAPPING }),
  text: (sample) =>
    upload(
      { 'a.txt': sample.items.map(({ prompt }) => `${prompt}\n`).join('') },
      { mapping: { prompt_column: 'text' }, format: 'text' },
    ),
  'hub, parquet': async (sample) => importHub('train.parquet', await parquetOf(rowsOf(sample)), MAPPING),
  'hub, lines': (sample) => importHub('train.jsonl', linesOf(rowsOf(sample)), MAPPING),
};

it.each(Object.entries(WAYS))('takes back its exports: %s', { timeout: RUNS * 20_000 }, async (_, send) => {
  await fc.assert(
    fc.asyncProperty(sample, async (made) => {
      const { status, body } = await send(made);
      expect([201, 400], JSON.stringify(body)).toContain(status);
      // draws another sample for one that is refused
      fc.pre(status === 201);
      const response = await fetch(`${api.url}/datasets/${body.id}/export`);
      const archive = new Uint8Array(await response.arrayBuffer());
      const again = await upload({ 'export.pkg.zip': archive });
      expect(again, JSON.stringify(again.body).slice(0, 1000)).toMatchObject({
        status: 201,
        body: { version_hash: body.version_hash },
      });
      for (const id of [body.id, again.body.id]) {
        await fetch(`${api.url}/datasets/${id}`, { method: 'DELETE', headers: ALONE });
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
});

it.each([
  ['600 items with one file of 2 MB', 600, 2_000_000],
  ['1,000 items with one file of 256 KiB', 1_000, 256 * 1024],
])('takes back the export of %s', { timeout: 300_000 }, async (_, count, bytes) => {
  const items = Array.from({ length: count }, (_, id) => ({
    id,
    inputs: { prompt: 'p' },
    assets: ['assets/a.png'],
  }));
  const archive = buildZip({
    entries: [entry('sections/a.jsonl', linesOf(items), false), entry('assets/a.png', noise(1, bytes), true)],
  });
  const { status, body } = await upload({ 'a.pkg.zip': archive });
  expect(status).toBe(201);
  const exported = new Uint8Array(await (await fetch(`${api.url}/datasets/${body.id}/export`)).arrayBuffer());
  expect(await upload({ 'b.pkg.zip': exported })).toMatchObject({
    status: 201,
    body: { version_hash: body.version_hash },
  });
});
