import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Item } from '@svc/jsonl-v23';
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { IS_LONG } from '../../../tools/vitest/long.ts';
import { checkPackage, openPackage, PackageError } from '../src/index.ts';
import {
  type ConvertOptions,
  convertLegacyFile,
  legacyOutputPath,
  openPackageFile,
  writePackageStream,
} from '../src/node/index.ts';
import { VERSION } from '../src/version.ts';
import { collectBytes } from '../src/zip/byte-source.ts';
import { buildZip } from './build-zip.ts';
import { memoryDataset } from './memory-dataset.ts';
import { type EverythingRead, readEverything } from './read-everything.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-convert-'));
});
afterEach(() => rm(folder, { recursive: true }));

type Files = Record<string, string | Uint8Array | JsonValue>;

const archiveOf = (files: Files): Uint8Array =>
  buildZip({
    entries: Object.entries(files).map(([name, content]) => ({
      name,
      content:
        typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content),
    })),
  });
const lines = (...items: JsonValue[]): string => items.map((item) => `${JSON.stringify(item)}\n`).join('');
const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function convert(files: Files, options: ConvertOptions = {}) {
  const input = join(folder, 'old.zip');
  await writeFile(input, archiveOf(files));
  const report = await convertLegacyFile(input, { force: true, ...options });
  await using pkg = await openPackageFile(report.output);
  const read: EverythingRead = await readEverything(pkg);
  const sections = Object.fromEntries(read.sections.map(({ name, items }) => [name, items]));
  return {
    report,
    read,
    sections,
    meta: pkg.meta!,
    manifest: pkg.manifest!,
    bytes: await readFile(report.output),
  };
}

describe('where items come from', () => {
  it('finds them in every shape, alone and mixed', async () => {
    const { sections, report } = await convert({
      'sections/b.jsonl': lines({ id: 'b' }),
      'data/train.jsonl': lines({ id: 'train' }),
      'data/list.json': [{ id: 1 }, { id: 2 }],
      'more/deep/file.jsonl': lines({ id: 'deep' }),
      'root.jsonl': lines({ id: 'root' }),
      'wrapped.json': { version: 3, items: [{ id: 'w' }] },
      'all.json': {
        sections: [{ items: [{ id: 'x' }], name: 'X' }, { name: 'Y', items: [] }, { items: [{ id: 'z' }] }],
      },
    });
    expect(
      Object.fromEntries(Object.entries(sections).map(([name, items]) => [name, items.map(({ id }) => id)])),
    ).toEqual({
      b: ['b'],
      train: ['train'],
      list: [1, 2],
      'more/deep/file': ['deep'],
      root: ['root'],
      wrapped: ['w'],
      X: ['x'],
      Y: [],
      'all-2': ['z'],
    });
    expect(report.sections.find(({ name }) => name === 'X')).toEqual({
      name: 'X',
      from: 'all.json',
      itemCount: 1,
    });
    expect(report.itemCount).toBe(9);
  });

  it('gives files with the same name unique names', async () => {
    const { sections } = await convert({
      'sections/a.jsonl': lines({ id: 1 }),
      'data/a.jsonl': lines({ id: 2 }),
      'data/a.json': [{ id: 3 }],
      'b.json': {
        sections: [
          { name: 'n', items: [{ id: 4 }] },
          { name: 'n', items: [{ id: 5 }] },
        ],
      },
    });
    expect(sections).toEqual({
      'sections/a': [{ id: 1 }],
      'data/a': [{ id: 3 }],
      'data/a (2)': [{ id: 2 }],
      'b/n': [{ id: 4 }],
      'b/n (2)': [{ id: 5 }],
    });
  });

  it('leaves control characters out of the names of sections', async () => {
    const { sections } = await convert({
      'data/a\tb.jsonl': lines({ id: 1 }),
      'x.json': {
        sections: [
          { name: 'c\nd', items: [{ id: 2 }] },
          { name: 'cd', items: [{ id: 3 }] },
          { name: '\u001b', items: [{ id: 4 }] },
        ],
      },
    });
    expect(sections).toEqual({
      ab: [{ id: 1 }],
      'x/cd': [{ id: 2 }],
      'x/cd (2)': [{ id: 3 }],
      'x-2': [{ id: 4 }],
    });
  });

  it('keeps members besides the items, and copies other files', async () => {
    const { meta, report, read, bytes } = await convert({
      'items.json': { owner: 'me', items: [{}], sections: [{ note: 'n', name: 's', items: [{}] }] },
      'README.md': '# read me',
      'config.json': { a: 1 },
      'numbers.json': [1, 2],
      'assets/unused.bin': 'u',
      'Manifest.JSON': { odd: true },
    });
    expect(meta['schema']).toMatchObject({
      package: { files: { 'items.json': { owner: 'me', sections: [{ note: 'n', name: 's' }] } } },
    });
    expect(report.carried).toEqual([
      'legacy/Manifest.JSON',
      'README.md',
      'assets/unused.bin',
      'config.json',
      'numbers.json',
    ]);
    expect(read.ignored.toSorted()).toEqual([
      'README.md',
      'config.json',
      'legacy/Manifest.JSON',
      'numbers.json',
    ]);
    await using pkg = await openPackage(bytes);
    expect(Buffer.from(await collectBytes(pkg.readEntry('README.md'))).toString()).toBe('# read me');
  });

  it('takes items out of the manifest, and keeps the rest of it', async () => {
    const { sections, meta } = await convert({
      'manifest.json': { name: 'N', system_prompt: 'S', sections: [{ name: 'a', items: [{ id: 1 }] }] },
    });
    expect(sections).toEqual({ a: [{ id: 1, inputs: { system_prompt: 'S' } }] });
    expect(meta['schema']).toMatchObject({ package: { manifest: { name: 'N', sections: [{ name: 'a' }] } } });
  });

  it('takes a JSON file that items refer to for an asset', async () => {
    const { sections, report } = await convert({
      'a.jsonl': lines({ assets: ['tables/t.json'] }),
      'tables/t.json': [{ x: 1 }],
    });
    expect(Object.keys(sections)).toEqual(['a']);
    expect(report.fileCount).toBe(1);
  });

  it('reads a zipped folder', async () => {
    const { sections, report } = await convert({
      'my set/data/a.jsonl': lines({ id: 1 }),
      '__MACOSX/x': 'x',
    });
    expect(Object.keys(sections)).toEqual(['a']);
    expect(report.carried).toEqual([]);
  });
});

describe('what it makes of them', () => {
  it('upgrades prompts and answers, and says how often', async () => {
    const { sections, report, meta } = await convert({
      'meta.json': {
        system_prompt: 'S',
        default_judge_prompts: { freeform: 'J' },
        description: 'D',
        notes: 'N',
      },
      'manifest.json': { name: 'Old', judge_prompt: 'K', version: 12345678901234567890n.toString() },
      'a.jsonl': lines(
        { question: 'Q', expected: 1 },
        { prompt: 'P', system: 'T', answer: 1, ideal: 2 },
        { judge_prompt: 'L' },
      ),
    });
    expect(sections['a']).toEqual([
      { answer: 1, inputs: { prompt: 'Q', system_prompt: 'S' }, meta: { judge_prompt: 'K' } },
      { answer: 1, ideal: 2, inputs: { prompt: 'P', system_prompt: 'T' }, meta: { judge_prompt: 'K' } },
      { inputs: { system_prompt: 'S' }, meta: { judge_prompt: 'L' } },
    ]);
    expect(report).toMatchObject({ name: 'Old', alreadyNew: false, itemCount: 3 });
    expect(report.changes).toContainEqual({
      what: 'applied',
      from: 'dataset system_prompt',
      to: 'inputs.system_prompt',
      count: 2,
      first: { file: 'a.jsonl', line: 1 },
    });
    expect(report.changes).toContainEqual({
      what: 'clash',
      from: 'ideal',
      to: 'answer',
      count: 1,
      first: { file: 'a.jsonl', line: 2 },
    });
    expect(meta).toMatchObject({ description: 'D', notes: 'N' });
  });

  it('keeps the old blobs to the last digit', async () => {
    const manifest = '{"version_hash":"abc","big":12345678901234567890,"f":1.50}';
    const { meta } = await convert({ 'manifest.json': manifest, 'meta.json': '{"x":null}', 'a.jsonl': '{}' });
    expect(canonicalJson(meta['schema']!)).toBe(
      '{"package":{"manifest":{"big":12345678901234567890,"f":1.5,"version_hash":"abc"},"meta":{"x":null}},"source":"pkg_zip"}',
    );
  });

  it('has null for blobs that were not there', async () => {
    const { meta, report } = await convert({ 'a.jsonl': '{}' });
    expect(meta).toEqual({
      description: null,
      notes: null,
      schema: { source: 'pkg_zip', package: { manifest: null, meta: null } },
    });
    expect(report.name).toBe('old');
  });

  it('turns assets of every kind into files, each once', async () => {
    const png = Buffer.from('iVBORw0KGgo=', 'base64');
    const { sections, read, bytes } = await convert({
      'data/a.jsonl': lines(
        {
          assets: [
            { content: png.toString('base64'), mime: 'image/png' },
            'images/same.png',
            `data:image/png;base64,${png.toString('base64')}`,
          ],
        },
        { assets: { t: { path: '../notes/t.txt' }, u: 'https://x.example', v: 'other.bin' } },
      ),
      'data/images/same.png': png,
      'notes/t.txt': 'text',
      'elsewhere/other.bin': 'bin',
    });
    const data = png.toString('base64');
    const [first, second] = sections['a'] as Item[];
    const [inline, file, uri] = first!['assets'] as JsonObject[];
    expect(inline).toMatchObject({ mime_type: 'image/png', data });
    expect(inline!['path']).toMatch(/^assets\/[0-9a-f]{2}\/[0-9a-f]{64}\.png$/);
    expect(file).toEqual({ ...inline, legacy: { path: 'images/same.png' } });
    expect(uri).toEqual(inline);
    const { t, u, v } = second!['assets'] as { [name: string]: JsonObject };
    expect(t).toMatchObject({
      mime_type: 'text/plain',
      data: base64('text'),
      legacy: { path: '../notes/t.txt' },
    });
    expect(u).toEqual({ url: 'https://x.example' });
    expect(v).toMatchObject({ mime_type: 'application/octet-stream', data: base64('bin') });
    await using pkg = await openPackage(bytes);
    const paths = (pkg.manifest!['files'] as { path: string }[])
      .map(({ path }) => path)
      .filter((path) => path.startsWith('assets/'));
    expect(paths).toEqual([inline!['path'], t!['path'], v!['path']].sort());
    expect(read.ignored).toEqual([]);
  });

  it('keeps the content of many assets, of any size and spelling of base64', async () => {
    const sizes = [
      0,
      1,
      2,
      3,
      10_000,
      140_000,
      300_000,
      ...Array.from({ length: 40 }, (_, at) => 4_000 + at),
    ];
    const contents = sizes.map((size, at) => Buffer.alloc(size, `${at} ÿ>?`, 'latin1'));
    const spellings = [
      (bytes: Buffer) => bytes.toString('base64'),
      (bytes: Buffer) => bytes.toString('base64url'),
      (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n'),
    ];
    const items = contents.flatMap((bytes, at) =>
      spellings.map((spell) => ({
        assets: [{ base64: spell(bytes), mime: at % 2 === 0 ? 'image/png' : 'text/plain' }],
      })),
    );
    const { sections, report } = await convert({ 'a.jsonl': lines(...items) });
    expect(report.fileCount).toBe(contents.length);
    const found = (sections['a'] as Item[]).map(({ assets }) => (assets as JsonObject[])[0]?.['data']);
    expect(found).toEqual(contents.flatMap((bytes) => spellings.map(() => bytes.toString('base64'))));
    expect(await readdir(folder)).toEqual(['old.pkg.zip', 'old.zip']);
  });

  it('keeps checkers where they are, and moves embedded ones out', async () => {
    const { sections, manifest } = await convert({
      'a.jsonl': lines(
        { checker: { path: 'checkers/c.py', type: 'script' } },
        { checker: { encoding: 'base64', data: base64('x') } },
      ),
      'checkers/c.py': 'pass',
      'checkers/lib.py': 'import',
    });
    expect(sections['a']![0]).toEqual({
      checker: { path: 'checkers/c.py', type: 'script', encoding: 'base64', data: base64('pass') },
    });
    const paths = (manifest['files'] as { path: string }[]).map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['checkers/c.py', 'checkers/lib.py']));
    expect(paths.filter((path) => /^checkers\/[0-9a-f]{2}\/[0-9a-f]{64}$/.test(path))).toHaveLength(1);
  });

  it('takes a run along, without its secrets', async () => {
    const results = '{"order_index":0,"section":"a","status":"failed"}\n';
    const { bytes } = await convert({
      'a.jsonl': '{}',
      'run_config.json': { model: 'm', api_key: 'sk-x' },
      'results.jsonl': results,
    });
    await using pkg = await openPackage(bytes);
    expect(Buffer.from(await collectBytes(pkg.readEntry('run_config.json'))).toString()).toBe(
      '{"model":"m"}\n',
    );
    expect(Buffer.from(await collectBytes(pkg.readEntry('results.jsonl'))).toString()).toBe(results);
  });

  it('gives the same bytes each time', async () => {
    const files: Files = {
      'data/b.json': [{ prompt: 'P', assets: { x: { base64: base64('x') } } }],
      'a.jsonl': lines({ assets: ['f.txt'] }),
      'f.txt': 'x',
    };
    const first = await convert(files);
    const second = await convert(files);
    const reordered = await convert(Object.fromEntries(Object.entries(files).reverse()));
    expect(Buffer.compare(first.bytes, second.bytes)).toBe(0);
    expect(Buffer.compare(first.bytes, reordered.bytes)).toBe(0);
  });

  it('loses no value of any item', async () => {
    const text = fc.string({ unit: 'grapheme' });
    const asset = fc.oneof(
      fc.record(
        {
          data: fc.string({ minLength: 3 }).map(base64),
          content_type: fc.constant('image/x-a'),
          mime_type: fc.constant('image/x-b'),
          path: text,
          alt: text,
        },
        { requiredKeys: ['data'] },
      ),
      fc.record(
        {
          content: fc.string({ minLength: 3 }).map(base64),
          mime: fc.constant('a/b'),
          media_type: fc.constant('a/c'),
        },
        { requiredKeys: ['content'] },
      ),
      fc.constant('files/f.txt'),
      fc.record({ file: fc.constant('files/f.txt'), note: text }),
      fc.record({ url: fc.constant('https://x.example/y') }),
    );
    const message = fc.record({ role: fc.constantFrom('system', 'user'), content: text });
    const value = fc.jsonValue({ maxDepth: 2 });
    const item = fc.record(
      {
        id: fc.integer(),
        prompt: fc.oneof(
          text,
          fc.record({ system: text, user: text, k: value }, { requiredKeys: [] }),
          fc.integer(),
        ),
        question: text,
        input: fc.oneof(text, fc.dictionary(text, value)),
        inputs: fc.record(
          {
            prompt: text,
            system: fc.oneof(text, fc.integer()),
            system_prompt: text,
            judge_prompt: text,
            messages: fc.array(message),
            k: value,
          },
          { requiredKeys: [] },
        ),
        system_prompt: text,
        system: text,
        messages: fc.oneof(fc.array(message, { maxLength: 3 }), value),
        judge_prompt: fc.oneof(text, value),
        judge: fc.record({ prompt: text, model: text }, { requiredKeys: [] }),
        grader_prompt: text,
        checker: fc.record({ judge_prompt: text, type: text }, { requiredKeys: [] }),
        expected: value,
        target: value,
        reference: value,
        ideal: value,
        answer: value,
        meta: fc.dictionary(
          text.filter((key) => key !== 'judge_prompt'),
          value,
        ),
        assets: fc.oneof(fc.array(asset), fc.dictionary(text, asset)),
        other: value,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(item, { minLength: 1, maxLength: 3 }), async (items) => {
        const legacy = JSON.parse(JSON.stringify(items)) as JsonObject[];
        const { sections } = await convert({ 'a.jsonl': lines(...legacy), 'files/f.txt': 'content' });
        for (const [index, old] of legacy.entries()) {
          const found = new Set(leaves(sections['a']![index]!).map(canonicalJson));
          for (const leaf of leaves(old)) {
            const isMovedRole = leaf === 'system';
            const isSpelling = typeof leaf === 'string' && found.has(canonicalJson(leaf.trim()));
            // a prompt that is null gives way to a text
            const isNullPrompt = leaf === null && old['judge_prompt'] === null;
            if (!isMovedRole && !isSpelling && !isNullPrompt) expect(found).toContain(canonicalJson(leaf));
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

function leaves(value: JsonValue): JsonValue[] {
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (isJsonObject(value)) return Object.values(value).flatMap(leaves);
  return [value];
}

describe('an archive that is new already', () => {
  const dataset = memoryDataset(
    [
      {
        name: 'b',
        items: [
          {
            prompt: 'not legacy here',
            assets: [
              { mime_type: 'image/png', encoding: 'base64', data: base64('x'), path: 'assets/own.png' },
            ],
          },
        ],
      },
      { name: 'a/x', items: [{ id: 1, system: 'data' }] },
    ],
    { name: 'n', description: 'd', schema: '{"source":"hub","n":1.50}' },
  );

  it('changes nothing but the generator’s stamp', async () => {
    const archive = await collectBytes(writePackageStream(dataset));
    const input = join(folder, 'new.zip');
    await writeFile(input, archive);
    const report = await convertLegacyFile(input);
    expect(report).toMatchObject({
      alreadyNew: true,
      changes: [],
      itemCount: 2,
      versionHash: dataset.versionHash,
      output: join(folder, 'new.pkg.zip'),
    });
    expect(Buffer.compare(await readFile(report.output), Buffer.from(archive))).toBe(0);
  });

  it('only that, where another generator made it', async () => {
    const files: Files = {
      'manifest.json':
        '{ "generator": "other", "format": "svc-pkg", "x": 1.0, "sections": [{"name": "true name", "file": "sections/a.jsonl"}] }',
      'meta.json': '{ "schema" : {} }',
      'sections/a.jsonl': '{ "prompt": "stays" }\r\n',
      'assets/unused': 'u',
      README: 'r',
    };
    const { bytes, read, report } = await convert(files);
    await using pkg = await openPackage(bytes);
    const text = async (path: string) => Buffer.from(await collectBytes(pkg.readEntry(path))).toString();
    for (const path of ['meta.json', 'sections/a.jsonl', 'assets/unused', 'README'])
      expect(await text(path)).toBe(files[path]);
    expect(await text('manifest.json')).toBe(
      `{"format":"svc-pkg","generator":"@svc/pkg-format","generator_version":"${VERSION}","sections":[{"file":"sections/a.jsonl","name":"true name"}],"x":1}\n`,
    );
    expect(read.sections[0]!.name).toBe('true name');
    expect(report.carried).toEqual(['README']);
  });

  it('is idempotent', async () => {
    const first = await convert({
      'a.jsonl': lines({ question: 'Q', assets: [{ base64: base64('x') }] }),
      README: 'x',
    });
    const input = join(folder, 'again.zip');
    await writeFile(input, first.bytes);
    const report = await convertLegacyFile(input, { output: join(folder, 'twice.zip') });
    expect(report.alreadyNew).toBe(true);
    expect(Buffer.compare(await readFile(report.output), first.bytes)).toBe(0);
  });

  it('refuses one that is broken', async () => {
    const manifest = { format: 'svc-pkg', hash_spec: 'svc-jcs-sha256-1', version_hash: '0'.repeat(64) };
    await expect(convert({ 'manifest.json': manifest, 'sections/a.jsonl': '{}' })).rejects.toMatchObject({
      code: 'package_hash_mismatch',
    });
  });
});

describe('errors', () => {
  it.each<[string, Files, object]>([
    ['no items', { 'README.md': 'x' }, { code: 'package_no_sections' }],
    [
      'a bad line',
      { 'data/a.jsonl': '{}\n{"a":}\n' },
      { code: 'package_invalid_line', location: { file: 'data/a.jsonl', line: 2, column: 6 } },
    ],
    [
      'a line that is not an object',
      { 'a.jsonl': '{}\n\n5\n' },
      { code: 'package_invalid_line', location: { file: 'a.jsonl', line: 3 } },
    ],
    [
      'a type that cannot be',
      { 'a.jsonl': '{"tags":5}' },
      { code: 'package_invalid_line', location: { file: 'a.jsonl', line: 1, path: '/tags' } },
    ],
    [
      'a type that cannot be, in JSON',
      { 'a.json': '[\n{},\n{"tags":5}]' },
      { code: 'package_invalid_line', location: { file: 'a.json', line: 3, row: 1, path: '/1/tags' } },
    ],
    [
      'an asset that is not there, in a section in JSON',
      { 'a.json': '{"sections":[{"items":[]},{"items":[{},{},{"assets":{"a":{"src":"x.png"}}}]}]}' },
      {
        code: 'package_missing_file',
        entry: 'x.png',
        location: { file: 'a.json', line: 1, row: 2, path: '/sections/1/items/2/assets/a/src' },
      },
    ],
    [
      'bad JSON',
      { 'a.json': '[{"a":1},\n{"b"}]' },
      { code: 'package_invalid_json', location: { file: 'a.json', line: 2, column: 5 } },
    ],
    [
      'an item that is not an object',
      { 'a.json': '[{},\n5]' },
      { code: 'package_invalid_line', location: { file: 'a.json', line: 2, column: 1 } },
    ],
    [
      'a manifest that is not an object',
      { 'manifest.json': '5', 'a.jsonl': '{}' },
      { code: 'package_invalid_json', entry: 'manifest.json' },
    ],
    [
      'an asset that is not there',
      { 'a.jsonl': '{}\n{"assets":["x.png"]}' },
      {
        code: 'package_missing_file',
        entry: 'x.png',
        location: { file: 'a.jsonl', line: 2, path: '/assets/0' },
      },
    ],
    [
      'a checker that is not there',
      { 'a.jsonl': '{"checker":{"path":"checkers/x"}}' },
      { code: 'package_missing_file', location: { file: 'a.jsonl', line: 1, path: '/checker' } },
    ],
    [
      'a bad asset',
      { 'a.jsonl': '{"assets":[{"base64":"!"}]}' },
      { code: 'package_invalid_line', location: { file: 'a.jsonl', line: 1, path: '/assets/0/base64' } },
    ],
  ])('%s', async (_, files, error) => {
    const input = join(folder, 'bad.zip');
    await writeFile(input, archiveOf(files));
    const found = await convertLegacyFile(input).catch((reason: unknown) => reason);
    if (!(found instanceof PackageError)) throw found;
    expect({ ...found, location: found.location }).toMatchObject(error);
    // Nothing is left but the input.
    expect(await readdir(folder)).toEqual(['bad.zip']);
  });

  it('an item with many errors, the first hundred of which it lists', async () => {
    const several = { assets: { a: 'x.png', b: { base64: '!' }, c: { src: 'y.png' }, d: 'there.png' } };
    const items = lines({ id: 1 }, several, { assets: Array.from({ length: 200 }, (_, i) => `${i}.png`) });
    const found = await convert({ 'a.jsonl': items, 'there.png': 'x' }).catch((reason: unknown) => reason);
    if (!(found instanceof PackageError)) throw found;
    expect(found.errorsTotal).toBe(203);
    expect(found.errors).toHaveLength(100);
    expect(found.errors.slice(0, 4).map(({ code, location }) => [code, location])).toEqual([
      ['package_missing_file', { file: 'a.jsonl', line: 2, column: 16, path: '/assets/a' }],
      ['package_invalid_line', { file: 'a.jsonl', line: 2, path: '/assets/b/base64' }],
      ['package_missing_file', { file: 'a.jsonl', line: 2, path: '/assets/c/src' }],
      ['package_missing_file', { file: 'a.jsonl', line: 3, column: 12, path: '/assets/0' }],
    ]);
    const inJson = await convert({ 'a.json': [{ id: 1 }, several] }).catch((reason: unknown) => reason);
    expect((inJson as PackageError).errors.map(({ location }) => location)).toMatchObject([
      { line: 1, column: 26, row: 1, path: '/1/assets/a' },
      { line: 1, row: 1, path: '/1/assets/b/base64' },
      { line: 1, row: 1, path: '/1/assets/c/src' },
      { line: 1, row: 1, path: '/1/assets/d' },
    ]);
  });

  it('an archive with many errors, all of which it lists', async () => {
    const damaged = { 'broken.json': '{"items":[{"id":1},', 'ok.jsonl': lines({ id: 1 }) };
    const failing = convert({
      ...damaged,
      'data/a.jsonl': '{"id":1}\n{"id":2,}\n7\n{"tags":"x"}\n{"assets":{"p":{"src":"no.png"}}}\n',
      'data/list.json': [{ id: 1 }, 5, { inputs: { prompt: 7 } }],
      'data/lines.json': '{"items": [\n  {\n "id": [],\n"x": "\\n"}]}',
    });
    await expect(failing).rejects.toBeInstanceOf(PackageError);
    const { errors, errorsTotal, ...first } = (await failing.catch((error) => error)) as PackageError;
    expect(errorsTotal).toBe(8);
    expect(errors.map(({ code, location }) => [code, location])).toEqual([
      ['package_invalid_json', { file: 'broken.json', line: 1, column: 20, path: '/items/1' }],
      ['package_invalid_line', { file: 'data/a.jsonl', line: 2, column: 9, path: '' }],
      ['package_invalid_line', { file: 'data/a.jsonl', line: 3 }],
      ['package_invalid_line', { file: 'data/a.jsonl', line: 4, column: 9, path: '/tags' }],
      ['package_missing_file', { file: 'data/a.jsonl', line: 5, column: 23, path: '/assets/p/src' }],
      ['package_invalid_line', { file: 'data/lines.json', line: 3, column: 8, path: '/items/0/id', row: 0 }],
      ['package_invalid_line', { file: 'data/list.json', line: 1, column: 11, path: '/1', row: 1 }],
      [
        'package_invalid_line',
        { file: 'data/list.json', line: 1, column: 33, path: '/2/inputs/prompt', row: 2 },
      ],
    ]);
    expect(first).toMatchObject({ code: errors[0]?.code, location: errors[0]?.location });

    const many = convert({ ...damaged, 'a.jsonl': '7\n'.repeat(250) });
    await expect(many).rejects.toMatchObject({ errorsTotal: 251, errors: { length: 100 } });
    expect(await readdir(folder)).toEqual(['old.zip']);
  });

  it('no archive', async () => {
    await writeFile(join(folder, 'x.zip'), 'hello');
    await expect(convertLegacyFile(join(folder, 'x.zip'))).rejects.toMatchObject({
      code: 'package_not_a_zip',
    });
    await expect(convertLegacyFile(join(folder, 'y.zip'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('an output that exists', async () => {
    await writeFile(join(folder, 'x.zip'), archiveOf({ 'a.jsonl': '{}' }));
    await writeFile(join(folder, 'x.pkg.zip'), 'precious');
    await chmod(join(folder, 'x.pkg.zip'), 0o600);
    await expect(convertLegacyFile(join(folder, 'x.zip'))).rejects.toMatchObject({ code: 'EEXIST' });
    expect(await readFile(join(folder, 'x.pkg.zip'), 'utf8')).toBe('precious');
    const report = await convertLegacyFile(join(folder, 'x.zip'), { force: true, name: 'given' });
    expect(report).toMatchObject({ name: 'given', itemCount: 1 });
    expect((await stat(join(folder, 'x.pkg.zip'))).mode & 0o777).toBe(0o600);
    await using pkg = await openPackageFile(join(folder, 'x.pkg.zip'));
    expect(pkg.manifest!['name']).toBe('given');
    expect((await readdir(folder)).sort()).toEqual(['x.pkg.zip', 'x.zip']);
  });

  it('a signal', async () => {
    await writeFile(
      join(folder, 'x.zip'),
      archiveOf({ 'a.jsonl': lines(...Array.from({ length: 10_000 }, (__, id) => ({ id }))) }),
    );
    const abort = new AbortController();
    const converting = convertLegacyFile(join(folder, 'x.zip'), { signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(converting).rejects.toThrow('enough');
    expect(await readdir(folder)).toEqual(['x.zip']);
  });

  it.each(['pics/other.bin', 'results.jsonl'])('a signal, while %s is read', async (path) => {
    const content = randomBytes(8 * 1024 * 1024);
    await writeFile(join(folder, 'x.zip'), archiveOf({ 'a.jsonl': '{}\n', [path]: content }));
    const abort = new AbortController();
    let read = 0;
    const onRead = (bytes: number): void => {
      read = bytes;
      if (bytes > content.byteLength / 8) abort.abort(new Error('enough'));
    };
    const converting = convertLegacyFile(join(folder, 'x.zip'), { signal: abort.signal, onRead });
    await expect(converting).rejects.toThrow('enough');
    expect(read).toBeLessThan(content.byteLength / 2);
  });
});

describe('legacyOutputPath', () => {
  it.each([
    ['a/old.zip', 'a/old.pkg.zip'],
    ['old.ZIP', 'old.pkg.zip'],
    ['old.pkg.zip', 'old.pkg.zip'],
    ['old', 'old.pkg.zip'],
    ['.zip', 'dataset.pkg.zip'],
  ])('%s', (input, output) => {
    expect(legacyOutputPath(input)).toBe(output);
  });
});

describe('sizes', () => {
  const limits = { maxLineBytes: 10_000 };
  const binary = new Uint8Array(2000).fill(200);
  const repeated = (entry: JsonValue): JsonValue => ({ id: 1, assets: Array<JsonValue>(5).fill(entry) });

  it.each<[what: string, files: Files, line: number]>([
    [
      'files anywhere in the archive',
      { 'a.jsonl': lines({ id: 0 }, repeated({ file: 'pics/a.bin' })), 'pics/a.bin': binary },
      2,
    ],
    [
      'files under assets/',
      { 'a.jsonl': lines({ id: 0 }, repeated('assets/a.bin')), 'assets/a.bin': binary },
      2,
    ],
    ['files, in a list of items', { 'a.json': [repeated('pics/a.bin')], 'pics/a.bin': binary }, 1],
    ['content in the line', { 'a.jsonl': lines({ assets: [{ content: '!'.repeat(9000) }] }) }, 1],
  ])('an item is refused that is longer than a line with its %s', async (_, files, line) => {
    await expect(convert(files, { limits })).rejects.toMatchObject({
      code: 'package_limit',
      location: { file: expect.stringMatching(/^a\.json/), line },
    });
    await convert(files, { limits: { maxLineBytes: 20_000 } });
  });

  it.runIf(IS_LONG)('an archive is refused that expands too far as a whole', async () => {
    const names = Array.from({ length: 70 }, (_, index) => `pics/${index}.bin`);
    const files = {
      'a.jsonl': lines(...names.map((file) => ({ assets: [{ file }] }))),
      ...Object.fromEntries(names.map((name) => [name, new Uint8Array(1024 * 1024)])),
    };
    await expect(convert(files)).rejects.toMatchObject({
      code: 'package_limit',
      message: expect.stringContaining('as a whole'),
    });
  });

  it.runIf(IS_LONG)(
    'prompts of the dataset, which are in each item, make it no larger than an import may be',
    async () => {
      const words = Array.from({ length: 20_000 }, (_, index) => index.toString(36)).join(' ');
      const files = {
        'meta.json': { system_prompt: words, judge_prompt: words },
        'a.jsonl': '{}\n'.repeat(1_000),
        'b.jsonl': '{}\n'.repeat(1_000),
      };
      const converting = convert(files);
      await expect(converting).rejects.toMatchObject({
        code: 'package_limit',
        message: expect.stringMatching(/^The import must make at most 500 times the \d+ bytes of its files/),
        location: { file: 'a.jsonl', line: expect.any(Number) },
        errorsTotal: 1,
      });
      await convert({ ...files, 'a.jsonl': '{}\n'.repeat(100), 'b.jsonl': '{}\n'.repeat(100) });
    },
  );

  it('a list of judge prompts, which is looked at for each item, has at most 1,000', async () => {
    const files = (count: number) => ({
      'meta.json': {
        default_judge_prompts: Array.from({ length: count }, (_, type) => ({ type, prompt: 'p' })),
      },
      'a.jsonl': '{}\n',
    });
    await convert(files(1000));
    await expect(convert(files(1001))).rejects.toMatchObject({
      code: 'package_limit',
      message: 'default_judge_prompts must have at most 1000 prompts, got 1001.',
    });
  });

  it.runIf(IS_LONG)('a file of many items counts once', async () => {
    const item = { id: 1, assets: [{ file: 'pics/a.bin' }] };
    const files = {
      'a.jsonl': lines(...Array<JsonValue>(70).fill(item)),
      'pics/a.bin': new Uint8Array(1024 * 1024),
    };
    const { bytes } = await convert(files);
    const checking = checkPackage(await openPackage(bytes));
    expect(await checking.next()).toMatchObject({ done: true, value: { itemCount: 70 } });
  });

  it('room is made for every byte before it is written, and without it nothing is left', async () => {
    const data = Buffer.alloc(100_000).toString('base64');
    const item = { id: 1, assets: [{ mime_type: 'image/png', encoding: 'base64', data }] };
    const files = { 'a.jsonl': lines(item) };
    const room: number[] = [];
    const makeRoom = async (bytes: number): Promise<void> => void room.push(bytes);
    const { bytes } = await convert(files, { makeRoom });
    expect(room).toEqual([...room].sort((a, b) => a - b));
    // The image, and the output that has it too.
    expect(room.at(-1)).toBeGreaterThan(100_000 + bytes.byteLength);
    const full = new Error('no room');
    const output = join(folder, 'none.zip');
    const refused = convert(files, {
      output,
      makeRoom: (bytes) => (bytes > 100_000 ? Promise.reject(full) : makeRoom(bytes)),
    });
    await expect(refused).rejects.toBe(full);
    expect((await readdir(folder)).sort()).toEqual(['old.pkg.zip', 'old.zip']);
  });
});
