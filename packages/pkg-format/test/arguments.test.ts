import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { datasetFromItems, openPackage, readPackageItems, writePackage } from '../src/index.ts';
import { openPackageFile, writePackageFile } from '../src/node/index.ts';
import { readEverything } from './read-everything.ts';

let folder: string;
let archive: Awaited<ReturnType<typeof writePackage>>;
const items = Array.from({ length: 2_000 }, (_, id) => ({ id }));
const dataset = datasetFromItems({ name: 'd', sections: [{ name: 's', items }] });
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-arguments-'));
  archive = await writePackage(dataset);
});
afterAll(() => rm(folder, { recursive: true }));

it.each<[string, () => Parameters<typeof openPackage>[0]]>([
  ['a Uint8Array', () => archive],
  ['an ArrayBuffer', () => archive.slice().buffer],
  ['a Blob', () => new Blob([archive])],
  ['a File', () => new File([archive], 'a.pkg.zip')],
])('opens %s', async (_, inputOf) => {
  const { sections } = await readEverything(await openPackage(inputOf()));
  expect(sections[0]?.items).toHaveLength(2_000);
});

it.each([null, 'a.pkg.zip', {}, [1], { byteLength: 5 }])('refuses %j as an archive', async (input) => {
  await expect(openPackage(input as never)).rejects.toThrow(
    /^An archive must be a Uint8Array, an ArrayBuffer, a Blob or/,
  );
});

it('says that a reader was closed', async () => {
  const file = join(folder, 'closed.pkg.zip');
  await writePackageFile(file, { name: 'd', sections: [{ name: 's', items }] });
  const pkg = await openPackageFile(file);
  await pkg.close();
  const reading = readPackageItems(pkg, pkg.sections[0]!).next();
  await expect(reading).rejects.toThrow('Cannot read the archive: it was closed.');
});

it('stops between two items when the signal aborts', async () => {
  const pkg = await openPackage(archive);
  const abort = new AbortController();
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const { item } of readPackageItems(pkg, pkg.sections[0]!, { signal: abort.signal })) {
      seen.push(item);
      if (seen.length === 5) abort.abort(new Error('enough'));
    }
  })();
  await expect(reading).rejects.toThrow('enough');
  expect(seen).toHaveLength(5);
});
