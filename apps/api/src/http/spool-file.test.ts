import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openSpool } from './spool-file.ts';

it('is cleaned of what dead processes left, by many that start together', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-spool-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const dead of ['101', '102', '103']) {
    await mkdir(join(folder, dead));
    for (let n = 0; n < 50; n++) await writeFile(join(folder, dead, `${n}.upload`), 'left');
  }
  await mkdir(join(folder, 'of-somebody-else'));
  const alive = [1, 2, 3, 4];
  const spools = await Promise.all(
    alive.map((pid) => openSpool(folder, pid, (other) => alive.includes(other), 50)),
  );
  const cleaned = await Promise.all(spools.map((spool) => spool.clean()));
  expect(Math.max(...cleaned.map(({ files }) => files))).toBeGreaterThan(0);
  expect((await readdir(folder)).sort()).toEqual(['1', '2', '3', '4', 'of-somebody-else']);
});

it('gives the uploads of a process their share of the free disk, and no more', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-spool-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const diskBytes = 1000;
  const usedBytes = async (): Promise<number> => {
    const names = await readdir(join(folder, '1'));
    return (await Promise.all(names.map((name) => stat(join(folder, '1', name))))).reduce(
      (sum, { size }) => sum + size,
      0,
    );
  };
  const spool = await openSpool(
    folder,
    1,
    () => true,
    50,
    async () => diskBytes - (await usedBytes()),
  );
  const noRoom = expect.objectContaining({
    code: 'unavailable',
    message: 'There is no room for this upload at the moment.',
  });
  {
    await using first = spool.create();
    await using second = spool.create();
    await first.makeRoom(300);
    await expect(second.makeRoom(201)).rejects.toEqual(noRoom);
    await second.makeRoom(200);
    // as it was promised, also when it is there
    await writeFile(first.path, Buffer.alloc(300));
    await writeFile(second.path, Buffer.alloc(200));
    await expect(first.makeRoom(301)).rejects.toEqual(noRoom);
    await first.makeRoom(300);
  }
  await using third = spool.create();
  const asked = await Promise.allSettled([third.makeRoom(500), spool.create().makeRoom(500)]);
  expect(asked.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(1);
});
