import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { RequestError } from '@svc/runtime';

/** A temporary file of the spool; disposing of it deletes it. */
export interface SpoolFile extends AsyncDisposable {
  readonly path: string;
  /**
   * Asks for room, before it is used: the file will have so many bytes in all.
   *
   * @throws RequestError `unavailable` when the uploads of this process would take more than their share of the free disk
   */
  makeRoom(bytes: number): Promise<void>;
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
 *
 * @param sharePercent of the disk that is free but for the files of this process, how much these may take together
 * @param freeBytes tells how much is free; infinity where that is not known
 */
export async function openSpool(
  folder: string,
  pid: number,
  isAlive: (pid: number) => boolean,
  sharePercent: number,
  freeBytes: (folder: string) => Promise<number> = freeBytesOf,
): Promise<Spool> {
  const own = join(folder, String(pid));
  await mkdir(own, { recursive: true, mode: 0o700 });
  /** what each file was given room for */
  const rooms = new Map<string, number>();
  const makeRoom = async (path: string, bytes: number): Promise<void> => {
    const before = rooms.get(path) ?? 0;
    if (bytes <= before) return;
    // Taken before it is known whether it is there, so that two that ask at once do not get the same.
    rooms.set(path, bytes);
    const free = await freeBytes(own);
    const [promised, written] = [sum(rooms.values()), await writtenBytes(rooms.keys())];
    if (promised <= ((free + written) * sharePercent) / 100) return;
    rooms.set(path, before);
    throw new RequestError('unavailable', 'There is no room for this upload at the moment.', {
      headers: { 'Retry-After': '30' },
      cause: new Error(
        `Cannot take ${promised} bytes of uploads: ${free} bytes are free, and ${written} are taken by uploads.`,
      ),
    });
  };
  return {
    create: () => {
      const path = join(own, `${randomUUID()}.upload`);
      return {
        path,
        makeRoom: (bytes) => makeRoom(path, bytes),
        [Symbol.asyncDispose]: async () => {
          await rm(path, { force: true });
          rooms.delete(path);
        },
      };
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

/** Bytes that an ordinary user may still write on the disk of a folder. */
async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder);
  // some file systems do not know their own size
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, one) => total + one, 0);

async function writtenBytes(paths: Iterable<string>): Promise<number> {
  const sizes = [...paths].map(async (path) => (await unlessGone(stat(path)))?.size ?? 0);
  return sum(await Promise.all(sizes));
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
