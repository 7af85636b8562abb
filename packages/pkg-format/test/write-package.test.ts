import { createHash } from 'node:crypto';
import type { Item } from '@svc/jsonl-v23';
import { canonicalJson, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ExportDataset,
  type ExportRun,
  openPackage,
  type WriteOptions,
  writePackage,
} from '../src/index.ts';
import { writePackageStream } from '../src/node/index.ts';
import { resolveLimits } from '../src/package/open-archive.ts';
import { VERSION } from '../src/version.ts';
import { packageEtag } from '../src/write/export-dataset.ts';
import { bytesSource, collectBytes } from '../src/zip/byte-source.ts';
import { readDirectory } from '../src/zip/read-directory.ts';
import { memoryDataset } from './memory-dataset.ts';
import { readEverything } from './read-everything.ts';

const writeStream = (dataset: ExportDataset, options?: WriteOptions): Promise<Uint8Array> =>
  collectBytes(writePackageStream(dataset, options));

const writers = [
  ['in memory', writePackage],
  ['as a stream', writeStream],
] as const;

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');
const base64 = (content: string): string => Buffer.from(content).toString('base64');
const png = (content: string, more: JsonObject = {}): JsonObject => ({
  mime_type: 'image/png',
  encoding: 'base64',
  data: base64(content),
  ...more,
});

/** Every file of an archive by its path, as text. */
async function filesOf(archive: Uint8Array): Promise<Record<string, string>> {
  const entries = await readDirectory(bytesSource(archive), resolveLimits());
  await using pkg = await openPackage(archive);
  const files: Record<string, string> = {};
  for (const { name } of entries)
    files[name] = Buffer.from(await collectBytes(pkg.readEntry(name))).toString();
  return files;
}

async function linesOf(archive: Uint8Array, section: string): Promise<JsonValue[]> {
  const text = (await filesOf(archive))[`sections/${section}.jsonl`]!;
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => parseJson(line));
}

const run: ExportRun = {
  id: 'run-1',
  name: 'first',
  status: 'completed',
  error: null,
  dataset_version_hash: 'ab'.repeat(32),
  started_at: '2026-01-02T03:04:05.000Z',
  finished_at: null,
  counts: { total: 2, done: 2, ok: 2, failed: 0, unscored: 0 },
  scores: { mean: 0.5, passed: 1, pass_rate: 0.5 },
  config: {
    provider: { model: 'm', headers: { Authorization: 'Bearer x' }, base_url: 'https://u:p@host/v1' },
  },
  async *results() {
    yield [
      {
        section: 'a',
        order_index: 0,
        item_id: 'x',
        repetition: 0,
        status: 'ok',
        output: 'said my-well-known-secret',
        score: 1,
        passed: true,
      },
    ];
    yield [{ section: 'a', order_index: 1, repetition: 0, status: 'ok', output: null, latency_ms: 12.5 }];
  },
};

describe.each(writers)('a package written %s', (_, write) => {
  it('has its files in order, with exactly this content', async () => {
    const dataset = memoryDataset(
      [
        { name: 'b', items: [{ id: 2, answer: '4', inputs: { prompt: 'p' } }] },
        { name: 'a/1', items: [] },
      ],
      { name: 'n', description: 'd', notes: null, schema: '{"z":12345678901234567890,"a":1.50}' },
    );
    const files = await filesOf(await write(dataset, { run, secrets: ['my-well-known-secret'] }));
    const meta =
      '{"description":"d","notes":null,"run":{"counts":{"done":2,"failed":0,"ok":2,"total":2,"unscored":0},"scorers":{},"scores":{"mean":0.5,"pass_rate":0.5,"passed":1},"scoring":null,"verdict":null},"schema":{"z":12345678901234567890,"a":1.50}}\n';
    const config = '{"provider":{"base_url":"https://host/v1","headers":{},"model":"m"}}\n';
    const results =
      '{"attempts":null,"cost":null,"error":null,"explanation":null,"finish_reason":null,"item_hash":null,"item_id":"x","judge_cost":null,"judge_usage":null,"latency_ms":null,"omitted_assets":null,"order_index":0,"output":"said [redacted]","passed":true,"reasoning":null,"redacted":1,"repetition":0,"reused":null,"score":1,"scored_by":null,"scores":null,"section":"a","status":"ok","trace_id":null,"truncated":null,"usage":null,"usage_reused":null}\n' +
      '{"attempts":null,"cost":null,"error":null,"explanation":null,"finish_reason":null,"item_hash":null,"item_id":null,"judge_cost":null,"judge_usage":null,"latency_ms":12.5,"omitted_assets":null,"order_index":1,"output":null,"passed":null,"reasoning":null,"redacted":null,"repetition":0,"reused":null,"score":null,"scored_by":null,"scores":null,"section":"a","status":"ok","trace_id":null,"truncated":null,"usage":null,"usage_reused":null}\n';
    const records = [
      '{"error":null,"finish_reason":null,"item_hash":null,"order_index":0,"output":"said [redacted]","reasoning":null,"repetition":0,"scores":{"main":{"explanation":null,"passed":true,"score":1,"scored_by":null}},"section":"a","status":"ok","usage":null}',
      '{"error":null,"finish_reason":null,"item_hash":null,"order_index":1,"output":null,"reasoning":null,"repetition":0,"scores":{},"section":"a","status":"ok","usage":null}',
    ];
    const b = '{"answer":"4","id":2,"inputs":{"prompt":"p"}}\n';
    const fact = (path: string, content: string) => ({
      path,
      bytes: content.length,
      sha256: sha256(content),
    });
    const manifest = canonicalJson({
      format: 'svc-pkg',
      format_version: '2.3',
      generator: '@svc/pkg-format',
      generator_version: VERSION,
      name: 'n',
      version_hash: dataset.versionHash,
      hash_spec: 'svc-jcs-sha256-1',
      sections: dataset.sections.map(({ name, itemCount, sectionHash }, index) => ({
        name,
        file: ['sections/0-b.jsonl', 'sections/1-a%2F1.jsonl'][index]!,
        order_index: index,
        item_count: itemCount,
        section_hash: Buffer.from(sectionHash).toString('hex'),
      })),
      files: [
        fact('meta.json', meta),
        fact('run_config.json', config),
        fact('results.jsonl', results),
        fact('sections/0-b.jsonl', b),
        fact('sections/1-a%2F1.jsonl', ''),
      ],
      run: {
        id: 'run-1',
        name: 'first',
        status: 'completed',
        error: null,
        dataset_version_hash: 'ab'.repeat(32),
        started_at: '2026-01-02T03:04:05.000Z',
        finished_at: null,
        results: 2,
        run_hash: sha256(
          `svc-run-1\n${'ab'.repeat(32)}\n${config}null\n${records.map((text) => `${sha256(text)}\n`).join('')}`,
        ),
        ...{ scoring: null, bar_hash: null },
      },
    });
    expect(Object.entries(files)).toEqual([
      ['manifest.json', `${manifest}\n`],
      ['meta.json', meta],
      ['run_config.json', config],
      ['results.jsonl', results],
      ['sections/0-b.jsonl', b],
      ['sections/1-a%2F1.jsonl', ''],
    ]);
  });

  it('names the program that writes it, and marks a run that is not complete', async () => {
    const dataset = memoryDataset([{ name: 'a', items: [{}, {}] }]);
    const generator = { name: 'other', version: '7.1.0' };
    for (const status of ['completed', 'running', 'cancelled', 'failed']) {
      const archive = await write(dataset, { run: { ...run, status }, generator });
      const { run: stated, ...manifest } = (await openPackage(archive)).manifest as Record<string, unknown>;
      expect(manifest).toMatchObject({
        generator: 'other',
        generator_version: '7.1.0',
        format_version: '2.3',
      });
      const isMarked = (stated as Record<string, unknown>)['incomplete'];
      expect([status, isMarked]).toEqual([status, status === 'completed' ? undefined : true]);
    }
  });

  it('leaves out a run that does not exist', async () => {
    const files = await filesOf(await write(memoryDataset([{ name: 'a', items: [{}] }])));
    expect(Object.keys(files)).toEqual(['manifest.json', 'meta.json', 'sections/a.jsonl']);
    expect(files['manifest.json']).not.toContain('"run"');
    expect(files['meta.json']).not.toContain('"run"');
  });

  it('has the same time, flags and attributes on every entry', async () => {
    const archive = await write(memoryDataset([{ name: 'é', items: [{ assets: [png('x')] }] }]));
    const view = new DataView(archive.buffer, archive.byteOffset);
    const seen = new Set<string>();
    for (const { headerStart } of await readDirectory(bytesSource(archive), resolveLimits())) {
      const flags = view.getUint16(headerStart + 6, true) & ~0x800;
      seen.add(
        [flags, view.getUint16(headerStart + 10, true), view.getUint16(headerStart + 12, true)].join(),
      );
    }
    // Time 0:00:00, date 1980-01-01, a data descriptor after each entry.
    expect([...seen]).toEqual([`8,0,${(1 << 5) | 1}`]);
    const directory = Buffer.from(archive).indexOf('PK\x01\x02');
    expect(view.getUint8(directory + 5)).toBe(3);
    expect(view.getUint32(directory + 38, true)).toBe((0o100644 * 0x10000) >>> 0);
  });

  it('stores media and deflates the rest', async () => {
    const items = [
      {
        assets: [
          png('a'.repeat(99)),
          { ...png('b'.repeat(99)), mime_type: 'image/svg+xml' },
          png('c'.repeat(99), { path: 'assets/c.bin' }),
        ],
      },
    ];
    const archive = await write(memoryDataset([{ name: 'a', items }]));
    const entries = await readDirectory(bytesSource(archive), resolveLimits());
    const methods = Object.fromEntries(
      entries.map(({ name, method }) => [name.replace(/^.*\./, '.'), method]),
    );
    expect(methods).toEqual({
      '.json': 'deflated',
      '.jsonl': 'deflated',
      '.png': 'stored',
      '.svg': 'deflated',
      '.bin': 'deflated',
    });
  });

  it('writes embedded content as files, each once', async () => {
    const dataset = memoryDataset([
      {
        name: 'a',
        items: [
          { id: 1, assets: { own: png('one', { path: 'assets/pics/one.png', alt: 'x' }), free: png('two') } },
          { id: 2, assets: [png('one'), png('two'), png('three', { path: 'assets/clash.png' })] },
        ],
      },
      {
        name: 'b',
        items: [
          {
            id: 3,
            assets: {
              c: png('four', { path: 'assets/clash.png' }),
              link: { url: 'https://x.example/a.png' },
            },
          },
          {
            id: 4,
            checker: { type: 'script', encoding: 'base64', data: base64('pass'), path: 'checkers/c.py' },
          },
          { id: 5, checker: { encoding: 'base64', data: base64('fail'), mime_type: 'text/x-python' } },
        ],
      },
    ]);
    const archive = await write(dataset);
    const at = (folder: string, content: string, extension: string) =>
      `${folder}/${sha256(content).slice(0, 2)}/${sha256(content)}${extension}`;
    const two = at('assets', 'two', '.png');
    const three = at('assets', 'three', '.png');
    const four = at('assets', 'four', '.png');
    const fail = at('checkers', 'fail', '.py');
    const files = await filesOf(archive);
    const paths = Object.keys(files).slice(4);
    expect(paths).toEqual([
      ...['assets/pics/one.png', two, three, four].sort(),
      ...['checkers/c.py', fail].sort(),
    ]);
    expect(files[two]).toBe('two');
    expect(files['assets/pics/one.png']).toBe('one');
    expect(files['checkers/c.py']).toBe('pass');
    expect(await linesOf(archive, 'a')).toEqual([
      {
        id: 1,
        assets: {
          own: { mime_type: 'image/png', path: 'assets/pics/one.png', alt: 'x' },
          free: { mime_type: 'image/png', path: two },
        },
      },
      {
        id: 2,
        assets: [
          { mime_type: 'image/png', path: 'assets/pics/one.png' },
          { mime_type: 'image/png', path: two },
          { mime_type: 'image/png', path: three },
        ],
      },
    ]);
    expect(await linesOf(archive, 'b')).toEqual([
      {
        id: 3,
        assets: { c: { mime_type: 'image/png', path: four }, link: { url: 'https://x.example/a.png' } },
      },
      { id: 4, checker: { type: 'script', path: 'checkers/c.py' } },
      { id: 5, checker: { mime_type: 'text/x-python', path: fail } },
    ]);
    const read = await readEverything(await openPackage(archive));
    expect(read.versionHash).toBe(dataset.versionHash);
  });

  it('keeps a checker whose path is elsewhere as it is', async () => {
    const items = [{ checker: { encoding: 'base64', data: base64('x'), path: 'scripts/x.py' } }];
    const archive = await write(memoryDataset([{ name: 'a', items }]));
    expect(await linesOf(archive, 'a')).toEqual(items);
  });

  it('does not depend on how the store cuts its batches, or on what it noted', async () => {
    const sections = [
      { name: 'a', items: Array.from({ length: 50 }, (__, id) => ({ id, text: 'x'.repeat(id * 300) })) },
    ];
    const [first, ...others] = await Promise.all([
      write(memoryDataset(sections)),
      write(memoryDataset(sections, { batchSize: 7 })),
      write(memoryDataset(sections, { batchSize: 100, noteFacts: false })),
    ]);
    for (const other of others) expect(Buffer.compare(first!, other)).toBe(0);
  });

  it('is refused where a section changed while it was written', async () => {
    const dataset = memoryDataset([{ name: 'a', items: [{ id: 1 }] }]);
    const stale = memoryDataset([{ name: 'a', items: [{ id: 2 }] }]);
    const mixed = {
      ...dataset,
      sections: [{ ...dataset.sections[0]!, exportFile: stale.sections[0]!.exportFile }],
    };
    await expect(write(mixed)).rejects.toMatchObject({
      code: 'package_hash_mismatch',
      entry: 'sections/a.jsonl',
    });
  });

  it('fails with what the dataset fails with', async () => {
    const dataset = memoryDataset([{ name: 'a', items: [{ id: 1 }] }]);
    const failing = {
      ...dataset,
      sections: [
        {
          ...dataset.sections[0]!,
          async *items() {
            yield [];
            throw new Error('the database is gone');
          },
        },
      ],
    };
    await expect(write(failing)).rejects.toThrow('the database is gone');
    await expect(
      write({ ...failing, sections: [{ ...failing.sections[0]!, exportFile: null }] }),
    ).rejects.toThrow('the database is gone');
  });
});

describe('writing and reading', () => {
  const media = fc.constantFrom('image/png', 'text/plain', 'application/octet-stream', 'application/pdf');
  const path = fc.constantFrom(
    'assets/a.png',
    'assets/A.png',
    'assets/a.png/b',
    'assets/x/y.txt',
    'assets/__MACOSX/q',
    'pics/p.png',
    'checkers/c.py',
  );
  const entry = fc
    .record(
      {
        mime_type: media,
        content: fc.constantFrom('', 'one', 'two', 'three', 'four'),
        path,
        alt: fc.jsonValue(),
      },
      { requiredKeys: ['mime_type', 'content'] },
    )
    .map(({ content, ...rest }) => ({ ...rest, encoding: 'base64', data: base64(content) }));
  const link = fc.constantFrom<JsonObject>(
    { url: 'https://x.example' },
    { url: 'http://y.example', mime_type: 'image/png' },
  );
  const assets = fc.oneof(
    fc.array(fc.oneof(entry, link), { maxLength: 3 }),
    fc.dictionary(fc.string(), fc.oneof(entry, link), { maxKeys: 3 }),
  );
  const checker = fc.oneof(
    fc.constant(null),
    fc.string(),
    entry,
    fc.dictionary(
      fc.string().filter((key) => !['path', 'data', 'encoding'].includes(key)),
      fc.jsonValue(),
    ),
  );
  const item = fc
    .record({
      known: fc.record(
        {
          id: fc.integer(),
          answer: fc.jsonValue(),
          assets,
          checker,
          inputs: fc.record({ prompt: fc.string() }),
        },
        { requiredKeys: [] },
      ),
      other: fc.dictionary(fc.string(), fc.jsonValue()),
    })
    .map(({ known, other }) => ({ extra: other, ...known }));
  const sections = fc.uniqueArray(
    fc.record({ name: fc.string({ unit: 'grapheme' }), items: fc.array(item, { maxLength: 4 }) }),
    {
      minLength: 1,
      maxLength: 4,
      selector: ({ name }) => name,
    },
  );

  it('keeps the version hash and every section name, and writes the same bytes again', async () => {
    await fc.assert(
      fc.asyncProperty(sections, async (given) => {
        const dataset = memoryDataset(given as { name: string; items: JsonValue[] }[]);
        const archive = await writeStream(dataset);
        const read = await readEverything(await openPackage(archive));
        expect(read.versionHash).toBe(dataset.versionHash);
        expect(read.sections.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
        const again = await writeStream(memoryDataset(read.sections as { name: string; items: Item[] }[]));
        expect(Buffer.compare(archive, again)).toBe(0);
        const inMemory = await writePackage(dataset);
        expect(await filesOf(inMemory)).toEqual(await filesOf(archive));
      }),
      { numRuns: 30 },
    );
  });
});

describe('a package stream', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, id) => ({
      id,
      text: [0, 1, 2, 3].map((part) => sha256(`${id}/${part}`)).join(''),
    }));

  /** A dataset that tells how far it was read and whether its reading was ended. */
  function watched(count: number, noteFacts = true) {
    const dataset = memoryDataset([{ name: 'a', items: many(count) }], { batchSize: 1, noteFacts });
    const state = { given: 0, open: 0 };
    const section = dataset.sections[0]!;
    const items = async function* (signal?: AbortSignal) {
      state.open++;
      try {
        for await (const batch of section.items(signal)) {
          state.given++;
          yield batch;
        }
      } finally {
        state.open--;
      }
    };
    return { dataset: { ...dataset, sections: [{ ...section, items }] }, state };
  }

  it('begins before a single item is read', async () => {
    const { dataset, state } = watched(100);
    for await (const chunk of writePackageStream(dataset)) {
      expect(Buffer.from(chunk).toString('latin1', 0, 4)).toBe('PK\x03\x04');
      break;
    }
    expect(state).toEqual({ given: 0, open: 0 });
  });

  it('reads no faster than it is read', async () => {
    const { dataset, state } = watched(20_000);
    const stream = writePackageStream(dataset);
    let bytes = 0;
    while (bytes < 10_000) bytes += (await stream.next()).value!.byteLength;
    let before: number;
    do {
      before = state.given;
      await new Promise((resolve) => setTimeout(resolve, 100));
    } while (state.given > before);
    expect(state.given).toBeLessThan(10_000);
    await stream.return(undefined);
    expect(state.open).toBe(0);
  });

  it.each([true, false])(
    'stops reading the dataset when its reader stops (digests noted: %s)',
    async (noteFacts) => {
      const { dataset, state } = watched(5_000, noteFacts);
      let chunks = 0;
      for await (const _ of writePackageStream(dataset)) if (++chunks === 5) break;
      expect(state.open).toBe(0);
    },
  );

  it.each([true, false])('ends with the reason of its signal (facts noted: %s)', async (noteFacts) => {
    const { dataset, state } = watched(5_000, noteFacts);
    const abort = new AbortController();
    const reason = new Error('enough');
    const reading = (async () => {
      for await (const _ of writePackageStream(dataset, { signal: abort.signal }))
        if (state.given > 0) abort.abort(reason);
    })();
    if (!noteFacts) setTimeout(() => abort.abort(reason), 5);
    await expect(reading).rejects.toBe(reason);
    expect(state.open).toBe(0);
  });

  it('does not begin where its signal has fired', async () => {
    const { dataset, state } = watched(10);
    await expect(
      collectBytes(writePackageStream(dataset, { signal: AbortSignal.abort(new Error('no')) })),
    ).rejects.toThrow('no');
    expect(state.given).toBe(0);
  });
});

it('the tag of a package changes with everything that its bytes depend on', () => {
  const dataset = { name: 'n', description: null, notes: null, schema: '{}', versionHash: 'a'.repeat(64) };
  const generator = { name: 'svc', version: '1.0.0' };
  const run = { id: 'r' } as unknown as Omit<ExportRun, 'results'>;
  const tags = [
    packageEtag(dataset, generator, null),
    packageEtag({ ...dataset, name: 'm' }, generator, null),
    packageEtag({ ...dataset, description: 'd' }, generator, null),
    packageEtag({ ...dataset, notes: 'd' }, generator, null),
    packageEtag({ ...dataset, schema: '[]' }, generator, null),
    packageEtag({ ...dataset, versionHash: 'b'.repeat(64) }, generator, null),
    packageEtag(dataset, { ...generator, version: '1.0.1' }, null),
    packageEtag(dataset, generator, run),
    packageEtag(dataset, generator, run, [7, 'labels']),
    packageEtag(dataset, generator, run, [8, 'labels']),
    packageEtag(dataset, generator, run, [7, 'other labels']),
  ];
  expect(new Set(tags).size).toBe(tags.length);
  expect(packageEtag({ ...dataset }, { ...generator }, null)).toBe(tags[0]);
});
