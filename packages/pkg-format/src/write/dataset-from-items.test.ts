import type { ItemInput } from '@svc/jsonl-v23';
import { ExactNumber, type JsonObject } from '@svc/jsonl-v23/json';
import { expect, it } from 'vitest';
import { memoryDataset } from '../../test/memory-dataset.ts';
import { readEverything } from '../../test/read-everything.ts';
import { openPackage, readPackageItems } from '../package/package-reader.ts';
import { datasetFromItems } from './dataset-from-items.ts';
import { writePackage } from './write-package.ts';

const png = { mime_type: 'image/png', encoding: 'base64', data: 'iVBORw0KGgo=' };
const sections: { name: string; items: JsonObject[] }[] = [
  { name: 'b', items: [{ id: 1, answer: new ExactNumber('0.12345678901234567890123') }, { id: 2 }] },
  { name: 'a', items: [{ id: 3, assets: { picture: png } }] },
  { name: 'empty', items: [] },
];

it('writes the package that a store would write', async () => {
  const stored = memoryDataset(sections, { name: 'n', description: 'd', schema: '{"x":1}' });
  const made = datasetFromItems({ name: 'n', description: 'd', schema: { x: 1 }, sections });
  expect(made.versionHash).toBe(stored.versionHash);
  expect(await writePackage(made)).toEqual(await writePackage(stored));
});

it('accepts your own interfaces, and gives items with typed keys', async () => {
  interface Inputs {
    readonly prompt: string;
    readonly seed: bigint;
  }
  interface Meta {
    readonly source: string;
    readonly extra?: Record<string, unknown>;
  }
  interface Question {
    readonly id: bigint;
    readonly inputs: Inputs;
    readonly answer: string;
    readonly meta: Meta;
  }
  const questions: Question[] = [
    { id: 1n, inputs: { prompt: '2+2?', seed: 12345678901234567890n }, answer: '4', meta: { source: 'x' } },
  ];
  const made = datasetFromItems({ name: 'n', sections: [{ name: 's', items: questions }] });
  await using pkg = await openPackage(await writePackage(made));
  for await (const { item } of readPackageItems(pkg, pkg.sections[0]!)) {
    const prompt: string | undefined = item.inputs?.prompt;
    expect([prompt, String(item.inputs?.['seed'])]).toEqual(['2+2?', '12345678901234567890']);
  }
});

it('keeps the order of sections, every digit, and files', async () => {
  const pkg = await openPackage(await writePackage(datasetFromItems({ name: 'n', sections })));
  const read = await readEverything(pkg);
  expect(read.sections.map(({ name }) => name)).toEqual(['b', 'a', 'empty']);
  await pkg.close();
});

it.each<[unknown, string, string]>([
  [1, 'package_invalid_line', ''],
  [{ a: [{ b: undefined }] }, 'package_invalid_line', '/a/0/b'],
  [{ meta: { when: new Date(0) } }, 'package_invalid_line', '/meta/when'],
  [{ n: Number.NaN }, 'package_invalid_line', '/n'],
  [{ id: {} }, 'package_invalid_line', '/id'],
  [{ inputs: 1 }, 'package_invalid_line', '/inputs'],
  [{ inputs: { prompt: 1 } }, 'package_invalid_line', '/inputs/prompt'],
  [{ assets: [{ data: '?' }] }, 'package_invalid_line', '/assets/0/data'],
  [{ assets: ['assets/a.png'] }, 'package_missing_file', '/assets/0'],
  [{ assets: { a: { path: 'images/a.png' } } }, 'package_missing_file', '/assets/a'],
])('refuses %j with its section, index and JSON Pointer', (item, code, path) => {
  const make = (): unknown =>
    datasetFromItems({ name: 'n', sections: [{ name: 's', items: [{}, item as ItemInput] }] });
  expect(make).toThrow(
    expect.objectContaining({ name: 'PackageError', code, location: { file: 's', row: 1, path } }),
  );
});

it.each<[string, unknown, unknown[], string, string | undefined]>([
  ['no sections', 'n', [], 'package_no_sections', undefined],
  ['two sections of one name', 'n', ['a', 'b', 'a'], 'package_invalid_json', '/sections'],
  ['a section name that is not a string', 'n', ['a', 7], 'package_invalid_json', '/sections/1/name'],
  [
    'a section name with a control character',
    'n',
    ['a', 'b\u0000'],
    'package_invalid_json',
    '/sections/1/name',
  ],
  ['a name that is not a string', 1, ['a'], 'package_invalid_json', '/name'],
  ['a name with a control character', 'a\nb', ['a'], 'package_invalid_json', '/name'],
])('refuses %s, here and when writing', async (_, name, sectionNames, code, path) => {
  const made = datasetFromItems({ name: 'n', sections: [{ name: 's', items: [{}] }] });
  const dataset = {
    ...made,
    name: name as string,
    sections: sectionNames.map((section) => ({ ...made.sections[0]!, name: section as string })),
  };
  const error = expect.objectContaining({
    name: 'PackageError',
    code,
    location: path === undefined ? {} : { file: 'manifest.json', path },
  });
  await expect(writePackage(dataset)).rejects.toEqual(error);
  const items = dataset.sections.map((section) => ({ name: section.name, items: [{}] }));
  expect(() => datasetFromItems({ name: dataset.name, sections: items })).toThrow(error);
});

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

it('refuses what a reader with the default limits refuses, with the same codes', async () => {
  const make = (item: unknown) =>
    datasetFromItems({ name: 'n', sections: [{ name: 's', items: [item as ItemInput] }] });
  await expect(writePackage(make({ deep: nested(255) }))).resolves.toBeInstanceOf(Uint8Array);
  expect(() => make({ deep: nested(256) })).toThrow(
    expect.objectContaining({
      name: 'PackageError',
      code: 'package_invalid_line',
      location: { file: 's', row: 0 },
    }),
  );
  expect(() => make({ note: 'x'.repeat(64 * 1024 * 1024) })).toThrow(
    expect.objectContaining({ name: 'PackageError', code: 'package_limit', location: { file: 's', row: 0 } }),
  );
  await expect(writePackage(make({ note: 'x'.repeat(3 * 1024 * 1024) }))).resolves.toBeInstanceOf(Uint8Array);
});
