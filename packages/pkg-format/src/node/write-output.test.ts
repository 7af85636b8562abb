import { chmod, lstat, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { moveIntoPlace } from './write-output.ts';

let folder: string;
const at = (name: string): string => join(folder, name);

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pkg-move-'));
  await writeFile(at('temporary'), 'new');
});
afterEach(() => rm(folder, { recursive: true }));

describe('moveIntoPlace', () => {
  it.each([true, false])('moves the file to a free path (replace: %s)', async (replace) => {
    await moveIntoPlace(at('temporary'), at('target'), { replace });
    expect(await readdir(folder)).toEqual(['target']);
    expect(await readFile(at('target'), 'utf8')).toBe('new');
  });

  it('replaces a file', async () => {
    await writeFile(at('target'), 'old');
    await moveIntoPlace(at('temporary'), at('target'), { replace: true });
    expect(await readFile(at('target'), 'utf8')).toBe('new');
  });

  it('keeps the mode of the file that it replaces', async () => {
    await writeFile(at('target'), 'old');
    await chmod(at('target'), 0o600);
    await chmod(at('temporary'), 0o644);
    await moveIntoPlace(at('temporary'), at('target'), { replace: true });
    expect((await stat(at('target'))).mode & 0o7777).toBe(0o600);
  });

  it('replaces a broken symbolic link', async () => {
    await symlink(at('nothing'), at('target'));
    await moveIntoPlace(at('temporary'), at('target'), { replace: true });
    expect(await readFile(at('target'), 'utf8')).toBe('new');
  });

  it('does not replace a file unless asked to', async () => {
    await writeFile(at('target'), 'old');
    const moving = moveIntoPlace(at('temporary'), at('target'), { replace: false });
    await expect(moving).rejects.toMatchObject({ code: 'EEXIST', path: at('target') });
    expect(await readFile(at('target'), 'utf8')).toBe('old');
  });

  it('does not replace a broken symbolic link', async () => {
    await symlink(at('nothing'), at('target'));
    const moving = moveIntoPlace(at('temporary'), at('target'), { replace: false });
    await expect(moving).rejects.toMatchObject({ code: 'EEXIST' });
    expect((await lstat(at('target'))).isSymbolicLink()).toBe(true);
  });

  it('passes on the errors of the file system', async () => {
    const moving = moveIntoPlace(at('missing'), at('target'), { replace: false });
    await expect(moving).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
