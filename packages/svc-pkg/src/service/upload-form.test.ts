import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { createUploadForm } from './upload-form.ts';

async function fileOf(bytes: number): Promise<string> {
  const path = join(await temporaryFolder(), 'a.zip');
  await writeFile(path, Buffer.alloc(bytes, 'x'));
  return path;
}

it('knows its length and reports the bytes that were sent', async () => {
  const path = await fileOf(600_000);
  const seen: [number, number][] = [];
  const form = await createUploadForm([path], { name: 'n', description: undefined }, 'a-key', (sent, total) =>
    seen.push([sent, total]),
  );
  expect((await buffer(form.body)).byteLength).toBe(form.byteLength);
  expect(seen.at(-1)).toEqual([600_000, 600_000]);
  expect(seen.length).toBeGreaterThan(1);
});

it('sends several files, each with its name', async () => {
  const paths = [await fileOf(3), await fileOf(2)];
  const form = await createUploadForm(paths, { name: 'n', mapping: '{}' }, 'a-key', () => {});
  const body = await buffer(form.body);
  expect(body.byteLength).toBe(form.byteLength);
  const parsed = await new Response(body, { headers: { 'content-type': form.contentType } }).formData();
  expect([parsed.get('name'), parsed.get('mapping')]).toEqual(['n', '{}']);
  const files = parsed.getAll('file') as File[];
  expect(files.map(({ name, size }) => [name, size])).toEqual([
    ['a.zip', 3],
    ['a.zip', 2],
  ]);
});

it('sends the length it read first, even if the file grows', async () => {
  const path = await fileOf(10);
  const form = await createUploadForm([path], {}, 'a-key', () => {});
  await appendFile(path, 'more');
  expect((await buffer(form.body)).byteLength).toBe(form.byteLength);
});

it('fails when the file becomes shorter', async () => {
  const path = await fileOf(10);
  const form = await createUploadForm([path], {}, 'a-key', () => {});
  await truncate(path, 5);
  await expect(buffer(form.body)).rejects.toMatchObject({ code: 'io_error', location: { file: path } });
});

it('refuses an empty file', async () => {
  const path = await fileOf(0);
  await expect(createUploadForm([path], {}, 'a-key', () => {})).rejects.toMatchObject({
    code: 'io_error',
    message: 'Cannot read the file: it is empty',
  });
});
