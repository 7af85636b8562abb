import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ItemInput } from '@svc/jsonl-v23';
import { canonicalJson } from '@svc/jsonl-v23/json';
import JSZip from 'jszip';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { checkPackage, datasetFromItems, type PackageReader } from '../src/index.ts';
import { openPackageFile, sealPackageFile, writePackageFile, writePackageStream } from '../src/node/index.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-seal-'));
});
afterAll(() => rm(folder, { recursive: true }));

const IMAGE = { mime_type: 'image/png', encoding: 'base64', data: 'iVBORwABAgM=' };
const ITEMS = [
  { id: 1, inputs: { prompt: 'a\ud800' }, answer: 4 },
  { id: 2, assets: { picture: { ...IMAGE, path: 'assets/p.png' } } },
];
const SECTIONS = [
  { name: 'a/b', items: ITEMS },
  {
    name: 'c',
    items: [{ id: 3, checker: { type: 'x', encoding: 'base64', data: 'eA==', mime_type: 'text/x-python' } }],
  },
];

async function* later<T>(items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield item;
}

async function errorsOf(pkg: PackageReader): Promise<{ codes: string[]; versionHash: string | null }> {
  const codes: string[] = [];
  const checking = checkPackage(pkg);
  for (;;) {
    const next = await checking.next();
    if (next.done) return { codes, versionHash: next.value.versionHash };
    codes.push(next.value.code);
  }
}

it('writes items that are read once to the bytes that the same items in memory give', async () => {
  const path = join(folder, 'streamed.pkg.zip');
  const schema = { source: 'file' };
  const whole = datasetFromItems({ name: 'N', notes: 'n', schema, sections: SECTIONS });
  const wanted = Buffer.concat(await Array.fromAsync(writePackageStream(whole)));
  const seen: number[] = [];
  const sections = SECTIONS.map(({ name, items }) => ({ name, items: later<ItemInput>(items) }));
  const written = await writePackageFile(
    path,
    { name: 'N', notes: 'n', schema: () => schema, sections },
    { onProgress: (count) => seen.push(count) },
  );
  expect((await readFile(path)).equals(wanted)).toBe(true);
  expect(written).toMatchObject({
    itemCount: 3,
    sections: [{ name: 'a/b', itemCount: 2 }, { itemCount: 1 }],
  });
  expect(seen).toEqual([3]);

  const again = { name: 'N', sections: [{ name: 's', items: [] }] };
  await expect(writePackageFile(path, again)).rejects.toMatchObject({ code: 'EEXIST' });
  const broken = { name: 'N', sections: [{ name: 's', items: [{ id: 1 }, { id: 1.5 }] }] };
  await expect(writePackageFile(join(folder, 'none'), broken)).rejects.toMatchObject({
    name: 'PackageError',
    code: 'package_invalid_line',
    location: { file: 's', row: 1, path: '/id' },
  });
  expect(await readdir(folder)).toEqual(['streamed.pkg.zip']);

  const temporary = join(folder, 'temporary');
  await mkdir(temporary);
  vi.stubEnv('TMPDIR', temporary);
  const once = () => SECTIONS.map(({ name, items }) => ({ name, items: later<ItemInput>(items) }));
  const input = () => ({ name: 'N', notes: 'n', schema: () => schema, sections: once() });
  const stream = writePackageStream(input(), { onProgress: (count) => seen.push(count) });
  expect(Buffer.concat(await Array.fromAsync(stream)).equals(wanted)).toBe(true);
  expect(seen).toEqual([3, 3]);
  for await (const _ of writePackageStream(input())) break;
  await expect(Array.fromAsync(writePackageStream(broken))).rejects.toMatchObject({
    code: 'package_invalid_line',
  });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(Array.fromAsync(writePackageStream(input(), { signal }))).rejects.toThrow('enough');
  expect(await readdir(temporary)).toEqual([]);
  vi.unstubAllEnvs();
  await rm(temporary, { recursive: true });
});

it('seals an edited folder and an edited package, and changes nothing else', async () => {
  const path = join(folder, 'whole.pkg.zip');
  await writePackageFile(path, { name: 'N', sections: SECTIONS });
  const zip = await JSZip.loadAsync(await readFile(path));
  const unpacked = join(folder, 'unpacked');
  for (const [name, entry] of Object.entries(zip.files)) {
    if (entry.dir) continue;
    await mkdir(dirname(join(unpacked, name)), { recursive: true });
    await writeFile(join(unpacked, name), await entry.async('nodebuffer'));
  }
  const same = await sealPackageFile(unpacked);
  expect(same).toMatchObject({ output: `${unpacked}.pkg.zip`, name: 'N', itemCount: 3 });
  expect((await readFile(same.output)).equals(await readFile(path))).toBe(true);
  await expect(sealPackageFile(unpacked)).rejects.toMatchObject({ code: 'EEXIST' });

  const manifest = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'));
  const [first] = manifest.sections as { file: string }[];
  await writeFile(
    join(unpacked, first?.file ?? ''),
    ' {"id": 9}\r\n\n{"id": 10, "checker": {"path": "checkers/mine.py"}}',
  );
  await writeFile(join(unpacked, 'checkers/mine.py'), 'print(1)');
  await writeFile(join(unpacked, 'sections/d.jsonl'), '{"id":4}\n');
  await writeFile(join(unpacked, '.DS_Store'), '');
  const results = { section: 'd', order_index: 0, repetition: 1, status: 'unscored' };
  await writeFile(join(unpacked, 'results.jsonl'), `${JSON.stringify(results)}\n`);
  manifest.run = { name: 'R', status: 'completed', results: 99 };
  manifest.mine = { kept: 1.5 };
  await writeFile(join(unpacked, 'manifest.json'), JSON.stringify(manifest));
  const sealed = await sealPackageFile(unpacked, { force: true, name: 'New' });
  expect(sealed).toMatchObject({ name: 'New', itemCount: 4, versionHashBefore: same.versionHash });
  await using pkg = await openPackageFile(sealed.output);
  expect(await errorsOf(pkg)).toEqual({ codes: [], versionHash: sealed.versionHash });
  expect(canonicalJson(pkg.manifest?.['run'] ?? null)).toBe('{"name":"R","results":1,"status":"completed"}');
  expect(pkg.manifest?.['mine']).toEqual({ kept: 1.5 });
  expect(pkg.sections.map(({ name }) => name)).toEqual(['a/b', 'c', 'd']);
  const inside = await JSZip.loadAsync(await readFile(sealed.output));
  expect(await inside.file(first?.file ?? '')?.async('string')).toMatch(/^ \{"id": 9\}\r\n/);

  // in place, and all errors together
  const copy = join(folder, 'copy.pkg.zip');
  await cp(sealed.output, copy);
  await expect(sealPackageFile(copy)).rejects.toMatchObject({ code: 'EEXIST' });
  await sealPackageFile(copy, { force: true });
  expect((await readFile(copy)).equals(await readFile(sealed.output))).toBe(true);
  await writeFile(join(unpacked, 'sections/d.jsonl'), '{"id":}\n{"id":1.5}\n');
  await rm(join(unpacked, 'checkers/mine.py'));
  const refused = await sealPackageFile(unpacked, { output: join(folder, 'bad.zip') }).catch(
    (error) => error,
  );
  expect(refused.errors.map(({ code }: { code: string }) => code).sort()).toEqual([
    'package_invalid_line',
    'package_invalid_line',
    'package_missing_file',
  ]);
  await symlink('/etc/passwd', join(unpacked, 'assets', 'link'));
  await expect(sealPackageFile(unpacked, { output: join(folder, 'bad.zip') })).rejects.toMatchObject({
    code: 'package_unsafe_entry',
  });
  expect((await readdir(folder)).sort()).toEqual([
    'copy.pkg.zip',
    'streamed.pkg.zip',
    'unpacked',
    'unpacked.pkg.zip',
    'whole.pkg.zip',
  ]);
});
