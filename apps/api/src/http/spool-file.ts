import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A temporary file of the spool; disposing of it deletes it. */
export interface SpoolFile extends AsyncDisposable {
  readonly path: string;
}

/** The folder that uploads wait in while they are checked. */
export interface Spool {
  create(): SpoolFile;
  /** Deletes what an earlier process left behind. Call it once, before the first upload. */
  clean(): Promise<{ readonly files: number; readonly bytes: number }>;
}

/**
 * Opens the spool of one process under `folder`, which is made when it is missing. Each process uses its own
 * subfolder, named after its process id, so that several may share a data folder; `clean` removes the
 * subfolders of processes that are gone.
 */
export async function openSpool(
  folder: string,
  pid: number,
  isAlive: (pid: number) => boolean,
): Promise<Spool> {
  const own = join(folder, String(pid));
  await mkdir(own, { recursive: true, mode: 0o700 });
  return {
    create: () => {
      const path = join(own, `${randomUUID()}.upload`);
      return { path, [Symbol.asyncDispose]: () => rm(path, { force: true }) };
    },
    clean: async () => {
      let files = 0;
      let bytes = 0;
      for (const name of await readdir(folder)) {
        const isOurs = name === String(pid);
        if (!/^\d+$/.test(name) || (!isOurs && isAlive(Number(name)))) continue;
        for (const left of (await unlessGone(readdir(join(folder, name)))) ?? []) {
          const file = await unlessGone(stat(join(folder, name, left)));
          if (file === undefined) continue;
          files += 1;
          bytes += file.size;
          await rm(join(folder, name, left), { force: true });
        }
        if (!isOurs) await rm(join(folder, name), { recursive: true, force: true });
      }
      return { files, bytes };
    },
  };
}

/** Processes that start together clean up after the same dead one. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
