import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** How the names of unfinished entries begin. */
export const TEMPORARY = 'unfinished-';

/** An unfinished entry that was not written for so long belongs to a process that died. */
const MAX_IDLE_MS = 60 * 60 * 1000;
/** Small entries count too. */
const MAX_ENTRIES = 200_000;

/** Removes the entries that were not used for the longest time, until the rest has at most `maxBytes`. */
export async function removeOldest(folder: string, maxBytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const entries: { readonly path: string; readonly size: number; readonly mtimeMs: number }[] = [];
  let total = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => null);
    if (found === null) continue;
    const { size, mtimeMs } = found;
    if (!entry.name.startsWith(TEMPORARY)) entries.push({ path, size, mtimeMs });
    else if (Date.now() - mtimeMs > MAX_IDLE_MS) await rm(path, { force: true }).catch(() => undefined);
    total += size;
  }
  entries.sort((a, b) => a.mtimeMs - b.mtimeMs);
  let left = entries.length;
  for (const { path, size } of entries) {
    if (total <= maxBytes && left <= MAX_ENTRIES) return;
    await rm(path, { force: true }).catch(() => undefined);
    total -= size;
    left -= 1;
  }
}
