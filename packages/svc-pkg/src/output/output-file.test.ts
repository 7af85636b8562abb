import { chmod, mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../test/temporary-folder.ts';
import { createOutputFile, outputPath } from './output-file.ts';

const hello = Buffer.from('hello');

it('moves a file to its path when it is complete', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.zip');
  await using file = await createOutputFile(path, { force: false });
  await file.write(hello);
  await file.write(hello);
  expect(await readdir(folder)).toEqual([expect.stringMatching(/^\.svc-pkg-[0-9a-f]{16}\.tmp$/)]);
  await file.commit();
  expect(file.bytesWritten).toBe(10);
  expect(await readdir(folder)).toEqual(['a.zip']);
  expect(await readFile(path, 'utf8')).toBe('hellohello');
});

it('leaves nothing of a file that was not committed', async () => {
  const folder = await temporaryFolder();
  {
    await using file = await createOutputFile(join(folder, 'a.zip'), { force: false });
    await file.write(hello);
  }
  expect(await readdir(folder)).toEqual([]);
});

it.each([
  ['that exists', async (path: string) => writeFile(path, 'old')],
  ['that is a dangling link', async (path: string) => symlink('nowhere', path)],
])('does not replace a file %s without force', async (_name, make) => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.zip');
  await make(path);
  await expect(createOutputFile(path, { force: false })).rejects.toMatchObject({
    code: 'output_exists',
    location: { file: path },
  });
  expect(await readdir(folder)).toEqual(['a.zip']);
});

it('does not replace a file that another process created in the meantime', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.zip');
  {
    await using file = await createOutputFile(path, { force: false });
    await file.write(hello);
    await writeFile(path, 'another process');
    await expect(file.commit()).rejects.toMatchObject({ code: 'output_exists' });
  }
  expect(await readdir(folder)).toEqual(['a.zip']);
  expect(await readFile(path, 'utf8')).toBe('another process');
});

it('replaces with force, also the target of a symbolic link', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'real'));
  await writeFile(join(folder, 'real', 'a.zip'), 'old');
  const path = join(folder, 'link.zip');
  await symlink('real/a.zip', path);
  await using file = await createOutputFile(path, { force: true });
  await file.write(hello);
  await file.commit();
  expect(await readlink(path)).toBe('real/a.zip');
  expect(await readFile(join(folder, 'real', 'a.zip'), 'utf8')).toBe('hello');
  expect(await readdir(join(folder, 'real'))).toEqual(['a.zip']);
});

it('keeps the permissions of a replaced file, also while it is written', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.zip');
  await writeFile(path, 'old');
  await chmod(path, 0o600);
  const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
  await using file = await createOutputFile(path, { force: true });
  const [temporary = ''] = (await readdir(folder)).filter((name) => name !== 'a.zip');
  expect(await modeOf(temporary)).toBe(0o600);
  await file.commit();
  expect(await modeOf('a.zip')).toBe(0o600);
});

it('refuses a folder', async () => {
  const folder = await temporaryFolder();
  await expect(createOutputFile(folder, { force: true })).rejects.toMatchObject({ code: 'io_error' });
});

it.each<[string | undefined, string]>([
  [undefined, 'in/n.zip'],
  ['x.zip', 'x.zip'],
  ['.', 'n.zip'],
  ['new/', 'new/n.zip'],
])('takes --output %j for %s', async (output, expected) => {
  expect(await outputPath(output, 'in', 'n.zip')).toBe(expected);
});
