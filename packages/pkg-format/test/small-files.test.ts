import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPackage } from '../src/index.ts';
import { openPackageFile } from '../src/node/index.ts';
import { buildZip, type ZipEntrySpec } from './build-zip.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-small-files-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const SECTION: ZipEntrySpec = { name: 'sections/s.jsonl', content: '{"id":1}\n', method: 'deflated' };
const location = { file: 'sections/s.jsonl', line: 1 };

/** Files of different sizes, each with its own bytes, of both methods. */
const files = Array.from({ length: 300 }, (_, index) => {
  const content = Buffer.alloc((index * 7_919) % 90_000);
  for (let at = 0; at < content.length; at += 1) content[at] = (at * (index + 1)) >> 3;
  return { name: `assets/${index}.bin`, content, method: index % 3 === 0 ? 'deflated' : 'stored' } as const;
});

it('reads small files concurrently, repeatedly and in any order', async () => {
  const path = join(folder, 'files.zip');
  await writeFile(path, buildZip({ entries: [SECTION, ...files] }));
  await using pkg = await openPackageFile(path);
  const order = files.map((_, index) => files[(index * 101) % files.length] as (typeof files)[number]);
  for (const wanted of [files, order, order]) {
    const found = await Promise.all(wanted.map(({ name }) => pkg.readFile(name, location)));
    const others = found.flatMap((bytes, index) =>
      Buffer.compare(bytes, (wanted[index] as (typeof files)[number]).content) === 0 ? [] : [index],
    );
    expect(others).toEqual([]);
    // A view of a larger buffer would keep all of it in the cache.
    expect(found.filter(({ buffer, byteLength }) => buffer.byteLength > 2 * byteLength)).toEqual([]);
  }
});

it.each([
  ['fewer bytes than its header states', { size: 2_000 }, 'contains 1000 bytes; its header states 2000'],
  ['more bytes than its header states', { size: 500 }, 'more than the 500 bytes'],
  ['another checksum', { crc32: 1 }, 'does not have the CRC-32'],
  ['bytes that are not deflate data', { packed: Buffer.alloc(40, 0xff) }, 'not exactly one valid deflate'],
])('names a small file with %s', async (_, wrong, problem) => {
  const damaged = { name: 'assets/a.txt', content: Buffer.alloc(1_000, 'x'), method: 'deflated', ...wrong };
  const archive = buildZip({ entries: [SECTION, damaged as ZipEntrySpec] });
  const path = join(folder, 'damaged.zip');
  await writeFile(path, archive);
  await using fromFile = await openPackageFile(path);
  await using fromMemory = await openPackage(archive);
  for (const pkg of [fromFile, fromMemory]) {
    await expect(pkg.readFile('assets/a.txt', location)).rejects.toMatchObject({
      code: 'package_corrupt',
      message: expect.stringContaining(problem),
    });
  }
});
