import { mkdtemp, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The file system of Linux that is in memory; containers often have a small one. */
const IN_MEMORY = { folder: '/dev/shm', type: 0x01021994, minFreeBytes: 4 * 2 ** 30 };

/**
 * Makes a folder for the data of a database that lives as long as a test: in memory where there is room. A database has a
 * thousand files, tests make and remove hundreds of databases, and most file systems take longer for that than for the tests.
 *
 * @param prefix of its name
 */
export async function makeDataFolder(prefix: string): Promise<string> {
  const found = await statfs(IN_MEMORY.folder).catch(() => null);
  const hasRoom =
    found !== null && found.type === IN_MEMORY.type && found.bavail * found.bsize >= IN_MEMORY.minFreeBytes;
  return await mkdtemp(join(hasRoom ? IN_MEMORY.folder : tmpdir(), prefix));
}
