import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Item } from '@svc/jsonl-v23';
import { expect, it } from 'vitest';
import { times } from '../../../tools/vitest/long.ts';
import { checkPackage, datasetFromItems, openPackage, writePackage } from '../src/index.ts';
import { writePackageFile } from '../src/node/index.ts';
import { createTempDir } from '../src/node/temp-dir.ts';

const item = (id: number, assets: readonly string[], prompt = 'p'): Item => ({
  id,
  inputs: { prompt },
  assets: assets.map((content) => ({
    mime_type: 'text/plain',
    encoding: 'base64',
    data: Buffer.from(content).toString('base64'),
  })),
});
const shared = 'one document for all of them. '.repeat(10_000);

const cases: readonly [string, () => readonly Item[]][] = [
  ['long runs of one letter', () => [item(1, ['a'.repeat(3_000_000)], 'b'.repeat(3_000_000))]],
  ['a file in 250 items', () => Array.from({ length: 250 }, (_, id) => item(id, [shared]))],
  [
    'many files of one letter',
    () => Array.from({ length: 70 }, (_, id) => item(id, [`${id}${'a'.repeat(1_000_000)}`])),
  ],
];

it.each(cases.slice(0, times(cases.length, 1)))(
  'a package of items that repeat is accepted by readers with the default limits: %s',
  async (_, make) => {
    const items = make();
    const sections = [{ name: 's', items }];
    const dataset = datasetFromItems({ name: 'd', sections });
    await using folder = await createTempDir(tmpdir());
    const path = folder.path('d.pkg.zip');
    const { versionHash } = await writePackageFile(path, { name: 'd', sections });
    expect(versionHash).toBe(dataset.versionHash);
    // a file is written as a stream is
    for (const archive of [await writePackage(dataset), new Uint8Array(await readFile(path))]) {
      const checking = checkPackage(await openPackage(archive));
      expect(await checking.next()).toMatchObject({ done: true, value: { versionHash } });
    }
  },
);
