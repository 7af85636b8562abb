import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { retryLater } from '@svc/service';
import { createDiskShare, DiskShortage, freeDiskBytes } from '@svc/service/concurrency';
import type { StagingFile } from '@svc/service/flows';

export type StagingFolder = Awaited<ReturnType<typeof openStagingFolder>>;

/**
 * Each process has its own subfolder of the staging folder, named after its process id, so that several can share a data folder.
 * Its files together may take `sharePercent` of the disk space that is free or taken by this process.
 */
export async function openStagingFolder(
  folder: string,
  pid: number,
  isAlive: (pid: number) => boolean,
  sharePercent: number,
  freeBytes: (folder: string) => Promise<number> = freeDiskBytes,
) {
  const own = join(folder, String(pid));
  await mkdir(own, { recursive: true, mode: 0o700 }).catch((cause: Error) => {
    throw new Error(`Cannot create the folder of uploads below SVC_DATA_DIR: ${cause.message}.`, { cause });
  });
  const share = createDiskShare<string>(sharePercent, () => freeBytes(own), writtenBytes);
  const makeRoom = async (path: string, bytes: number): Promise<void> => {
    try {
      await share.reserve(path, bytes);
    } catch (cause) {
      if (!(cause instanceof DiskShortage)) throw cause;
      const message = 'The server is at capacity: no disk space is left for this upload. Retry later.';
      throw retryLater('unavailable', message, 30, { cause, reason: 'full' });
    }
  };
  return {
    /** The file's `makeRoom` throws RequestError `unavailable` beyond the share of the free disk space that uploads may take. */
    create: (): StagingFile => {
      const path = join(own, `${randomUUID()}.upload`);
      let hasRoom = false;
      return {
        path,
        makeRoom: (bytes: number) => {
          hasRoom = true;
          return makeRoom(path, bytes);
        },
        [Symbol.asyncDispose]: async () => {
          if (!hasRoom) return;
          await deleteFile(path);
          share.release(path);
        },
      };
    },
    /** Deletes the files of processes that have ended. Call it once, before the first upload. */
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
          await rm(join(folder, name, left), { recursive: true, force: true });
        }
        if (!isOurs) await rm(join(folder, name), { recursive: true, force: true });
      }
      return { files, bytes };
    },
  };
}

/** The system frees space with the last handle, a tenth of a second for a gigabyte: no request waits for that. */
async function deleteFile(path: string): Promise<void> {
  const handle = await open(path).catch(() => undefined);
  await rm(path, { force: true });
  handle?.close().catch(() => undefined);
}

async function writtenBytes(paths: Iterable<string>): Promise<number> {
  const sizes = [...paths].map(async (path) => (await unlessGone(stat(path)))?.size ?? 0);
  return (await Promise.all(sizes)).reduce((total, size) => total + size, 0);
}

/** Processes that start together may delete the same files. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
