import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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
