import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { exists, fileExists, moveIntoPlace } from './move-into-place.ts';
import { createTempDir, type MakeRoom, type TempDir } from './temp-dir.ts';

/**
 * Makes a file that appears at its path when it is complete. Until then a hidden folder next to it has the temporary files.
 *
 * @param write writes the file to a path in that folder
 * @throws errors of the file system, `EEXIST` if the file exists and `force` is not set; what `write` throws
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
