import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { openUploadSource } from './send-files.ts';

async function fileOf(bytes: number): Promise<string> {
  const path = join(await temporaryFolder(), 'a.zip');
  await writeFile(path, Buffer.alloc(bytes, 'x'));
  return path;
}

it('reads the length that the file had first, even if it grows, in each attempt', async () => {
  const path = await fileOf(600_000);
  const source = await openUploadSource({ path, shown: path }, 'a.zip');
  await appendFile(path, 'more');
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const chunks = await Array.fromAsync(source.read());
    expect(chunks.length).toBeGreaterThan(1);
    expect(Buffer.concat(chunks).byteLength).toBe(600_000);
  }
  expect([source.name, source.byteLength]).toEqual(['a.zip', 600_000]);
});

it('fails when the file becomes shorter', async () => {
  const path = await fileOf(10);
  const source = await openUploadSource({ path, shown: path }, 'a.zip');
  await truncate(path, 5);
  await expect(buffer(source.read())).rejects.toMatchObject({ code: 'io_error', location: { file: path } });
});

it('refuses an empty file', async () => {
  await expect(openUploadSource({ path: await fileOf(0), shown: '-' }, 'stdin')).rejects.toMatchObject({
    code: 'io_error',
    message: 'Cannot read the file: it is empty',
    location: { file: '-' },
  });
});
