import { chmod, link, lstat, rename, stat, unlink } from 'node:fs/promises';

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

/** The error for an output that exists. */
export function fileExists(path: string): Error {
  return Object.assign(new Error(`${path} already exists.`), { code: 'EEXIST', syscall: 'link', path });
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
