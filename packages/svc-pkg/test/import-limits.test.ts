import { copyFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_IMPORT_LIMITS } from '@svc/jsonl-v23/imports';
import { readMapping } from '@svc/jsonl-v23/mapping';
import { DEFAULT_LIMITS } from '@svc/pkg-format';
import { expect, it } from 'vitest';
import { startFakeHub } from '../../hub-client/test/fake-hub.ts';
import { buildZip } from '../../pkg-format/test/build-zip.ts';
import { openFiles } from '../src/local/open-files.ts';
import { packFiles } from '../src/local/pack-files.ts';
import { svcPkg } from './run-svc-pkg.ts';
import { temporaryFolder, writeArchive } from './temporary-folder.ts';

/** What files and rows become is bounded as in an import into a service. */

const rows = (count: number, cell = '1'): string => `a\n${`${cell}\n`.repeat(count)}`;

it('refuses rows that a constant makes expand too much, on both ways into a package', async () => {
  const folder = await temporaryFolder();
  const mapping = join(folder, 'mapping.json');
  await writeFile(mapping, JSON.stringify({ prompt_template: 'x'.repeat(60_000) }));
  const table = join(folder, 'table.csv');
  await writeFile(table, rows(6000));
  await using hub = await startFakeHub({ id: 'o/d', files: { 'train.csv': rows(6000) } });
  const output = join(folder, 'out.pkg.zip');
  const options = ['--name', 'N', '-o', output, '--mapping', mapping];
  const env = { HUB_ENDPOINT: hub.endpoint };
  for (const argv of [
    ['pack', table],
    ['import-hub', 'o/d', '--local'],
  ]) {
    const refused = await svcPkg([...argv, ...options], { env });
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toMatch(/at most 500 times the 12002 bytes of its files.+package_limit/);
  }
  expect((await readdir(folder)).sort()).toEqual(['mapping.json', 'table.csv']);
});

it('compares tables of an archive with the bytes of the archive: ratios do not multiply', async () => {
  const folder = await temporaryFolder();
  const archive = join(folder, 'tables.zip');
  const entries = [
    { name: 'a.csv', content: rows(100_000), method: 'deflated' as const },
    { name: 'b.csv', content: rows(1) },
  ];
  await writeFile(archive, buildZip({ entries }));
  const { size } = await stat(archive);
  const template = `${'x'.repeat(700)}{a}`;
  const refused = await svcPkg([
    'pack',
    archive,
    '-o',
    join(folder, 'out.zip'),
    '--prompt-template',
    template,
  ]);
  expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
  expect(refused.stderr).toContain(`at most 500 times the ${size} bytes of its files`);
});

const signal = new AbortController().signal;
const stdin = { stdin: (async function* () {})(), signal } as never;

async function pack(
  content: string,
  wire: { [key: string]: string } | null,
  limits: object,
): Promise<unknown> {
  const folder = await temporaryFolder();
  const path = join(folder, wire === null ? 'a.jsonl' : 'a.csv');
  await writeFile(path, content);
  await using opened = await openFiles(stdin, [path], { hints: {}, isMapped: wire !== null });
  const given = wire === null ? null : { wire, mapping: readMapping(wire) };
  const generator = { name: 'svc-pkg', version: '0.0.0-test' };
  const facts = { name: 'N', description: undefined };
  return await packFiles(
    opened,
    given,
    facts,
    join(folder, 'out.zip'),
    { generator, signal },
    {
      ...DEFAULT_IMPORT_LIMITS,
      ...limits,
    },
  );
}

it('counts rows and lines, also those that are skipped, and the bytes of items with their files', async () => {
  const plain = { prompt_template: 'x' };
  const skipping = { prompt_column: 'a', types: { a: 'bool' }, invalid_rows: 'skip' } as never;
  for (const mapping of [plain, skipping]) {
    await expect(pack(rows(11), mapping, { maxRows: 10 })).rejects.toMatchObject({
      code: 'package_limit',
      location: { file: expect.stringMatching(/a\.csv$/), row: 10 },
    });
    await expect(pack(rows(10), mapping, { maxRows: 10 })).resolves.toBeDefined();
  }
  const lines = '{"id":1}\n'.repeat(11);
  await expect(pack(lines, null, { maxRows: 10 })).rejects.toMatchObject({ code: 'package_limit' });
  const image = `{"id":1,"assets":[{"data":"${'AAAA'.repeat(1000)}"}]}\n`;
  const embedding = image.repeat(4);
  await expect(pack(embedding, null, { maxTotalBytes: 11_000 })).rejects.toMatchObject({
    code: 'package_limit',
  });
  await expect(pack(embedding, null, { maxTotalBytes: 13_000 })).resolves.toBeDefined();
});

it('counts what is unpacked from all archives of a folder together', async () => {
  const folder = await temporaryFolder();
  for (const name of ['a', 'b', 'c']) {
    await copyFile(await writeArchive({ [`${name}.csv`]: rows(100_000) }), join(folder, `${name}.zip`));
  }
  const limits = { ...DEFAULT_LIMITS, maxTotalBytes: 500_000 };
  await expect(openFiles(stdin, [folder], { hints: {}, isMapped: true, limits })).rejects.toMatchObject({
    code: 'too_large',
    message: expect.stringContaining('500000'),
  });
});
