import { chmod, link, lstat, open, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { createTempDir, type MakeRoom, type TempDir } from './temp-dir.ts';

/**
 * Makes a file that appears at its path when it is complete. Until then a hidden folder next to it has the temporary files.
 */
export async function writeOutput<T>(
  target: string,
  { force, makeRoom }: { readonly force: boolean; readonly makeRoom?: MakeRoom | undefined },
  write: (temporary: string, tempDir: TempDir) => Promise<T>,
): Promise<T> {
  if (!force && (await exists(target))) throw fileExists(target);
  await using tempDir = await createTempDir(dirname(target), makeRoom);
  const temporary = tempDir.path('package.zip');
  const result = await write(temporary, tempDir);
  await moveIntoPlace(temporary, target, { replace: force });
  return result;
}

/** The name of an archive without its extension, or of a folder. */
export function archiveName(path: string): string {
  const bare = basename(path)
    .replace(/\.zip$/i, '')
    .replace(/\.pkg$/i, '');
  return bare || 'dataset';
}

/** Writes a new file, and waits until the disk has it. */
export async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx');
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Gives a finished file its final path in one step, on the same file system.
 *
 * @param replace whether an existing file at `target` is replaced; the new file gets its mode
 * @throws the file system's own errors; `EEXIST` if `target` exists, also if it has appeared just now, and `replace` is
 *   not set
 */
export async function moveIntoPlace(
  temporary: string,
  target: string,
  { replace }: { readonly replace: boolean },
): Promise<void> {
  if (replace) {
    const replaced = await stat(target).catch(() => null);
    if (replaced?.isFile()) await chmod(temporary, replaced.mode & 0o7777);
    return rename(temporary, target);
  }
  try {
    // A link fails if the target exists; a rename would replace it.
    await link(temporary, target);
  } catch (error) {
    if (await exists(target)) throw fileExists(target);
    if (isCode(error, 'EEXIST')) throw error;
    // Some file systems have no links.
    return rename(temporary, target);
  }
  await unlink(temporary);
}

/** Whether a path names something, if only a broken symbolic link. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

export function fileExists(path: string): Error {
  return Object.assign(new Error(`${path} already exists.`), { code: 'EEXIST', syscall: 'link', path });
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
