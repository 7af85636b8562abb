import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig, packageLimits } from '@svc/service';
import { createToolConverter, openUpload } from '@svc/service/flows';
import { expect, it, onTestFinished } from 'vitest';
import { makePackage } from '../../test/make-package.ts';
import { readUploadForm } from '../routes/uploads/upload.ts';
import { openStagingFolder } from './staging-folder.ts';

it('deletes the files of dead processes, even when several processes start together', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-staging-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const dead of ['101', '102', '103']) {
    await mkdir(join(folder, dead));
    for (let n = 0; n < 50; n++) await writeFile(join(folder, dead, `${n}.upload`), 'left');
  }
  await mkdir(join(folder, 'of-another-program'));
  const alive = [1, 2, 3, 4];
  const folders = await Promise.all(
    alive.map((pid) => openStagingFolder(folder, pid, (other) => alive.includes(other), 50)),
  );
  const cleaned = await Promise.all(folders.map((staging) => staging.clean()));
  expect(Math.max(...cleaned.map(({ files }) => files))).toBeGreaterThan(0);
  expect((await readdir(folder)).sort()).toEqual(['1', '2', '3', '4', 'of-another-program']);
});

it('limits the uploads of a process to their share of the free disk space', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-staging-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const diskBytes = 1000;
  const usedBytes = async (): Promise<number> => {
    const names = await readdir(join(folder, '1'));
    return (await Promise.all(names.map((name) => stat(join(folder, '1', name))))).reduce(
      (sum, { size }) => sum + size,
      0,
    );
  };
  const staging = await openStagingFolder(
    folder,
    1,
    () => true,
    50,
    async () => diskBytes - (await usedBytes()),
  );
  const noRoom = expect.objectContaining({
    code: 'unavailable',
    message: 'The server is at capacity: no disk space is left for this upload. Retry later.',
  });
  {
    await using first = staging.create();
    await using second = staging.create();
    await first.makeRoom(300);
    await expect(second.makeRoom(201)).rejects.toEqual(noRoom);
    await second.makeRoom(200);
    // as it was promised, also when it is there
    await writeFile(first.path, Buffer.alloc(300));
    await writeFile(second.path, Buffer.alloc(200));
    await expect(first.makeRoom(301)).rejects.toEqual(noRoom);
    await first.makeRoom(300);
  }
  await using third = staging.create();
  const asked = await Promise.allSettled([third.makeRoom(500), staging.create().makeRoom(500)]);
  expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
});

it('limits what older archives are converted to', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-staging-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const staging = await openStagingFolder(
    folder,
    1,
    () => true,
    50,
    async () => 1_000_000,
  );
  const assets = [
    { mime_type: 'image/png', encoding: 'base64', data: Buffer.alloc(600_000).toString('base64') },
  ];
  const content = await makePackage({
    'a.jsonl': JSON.stringify({ id: 1, inputs: { prompt: 'p' }, assets }),
  });
  const staged = { path: null, content, bytes: content.byteLength, sha256: '', fileName: 'old.zip' };
  const form = readUploadForm({ fields: new Map([['convert', 'true']]) });
  await using converter = createToolConverter();
  const deps = { limits: packageLimits(loadConfig({ SVC_DATA_DIR: folder })), staging, converter };
  const opened = openUpload([staged], form, deps, new AbortController().signal);
  await expect(opened).rejects.toMatchObject({ code: 'unavailable' });
  expect(await readdir(join(folder, '1'))).toEqual([]);
});
