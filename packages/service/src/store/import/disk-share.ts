import { statfs } from 'node:fs/promises';

/** Why there is no room, for a log. */
export class DiskShortage extends Error {
  override readonly name = 'DiskShortage';
}

export type DiskShare<K> = ReturnType<typeof createDiskShare<K>>;

/** The share of a disk that users may take together: a percentage of what is free without what they have written. */
export function createDiskShare<K>(
  sharePercent: number,
  freeBytes: () => Promise<number>,
  writtenBytes: (users: Iterable<K>) => number | Promise<number>,
) {
  const promised = new Map<K, number>();
  return {
    /** Promises a user room, before it is used. @throws DiskShortage */
    async reserve(user: K, bytes: number): Promise<void> {
      const before = promised.get(user) ?? 0;
      if (bytes <= before) return;
      // Reserve before checking, so that two concurrent calls do not get the same space.
      promised.set(user, bytes);
      const free = await freeBytes();
      const written = await writtenBytes(promised.keys());
      const sum = [...promised.values()].reduce((all, one) => all + one, 0);
      if (sum <= ((free + written) * sharePercent) / 100) return;
      promised.set(user, before);
      throw new DiskShortage(
        `Cannot reserve ${sum} bytes: ${free} bytes are free, and ${written} bytes are written already.`,
      );
    },

    release: (user: K): void => void promised.delete(user),
  };
}

/** Bytes that an ordinary user can still write to the disk of a folder. */
export async function freeDiskBytes(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder);
  // some file systems do not report their size
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

export function importShare({
  folder,
  sharePercent,
}: {
  readonly folder: string;
  readonly sharePercent: number;
}): DiskShare<object> {
  // What is sent may not be on the disk yet, and takes more there, with its log: nothing of it counts as written.
  const writtenBytes = (): number => 0;
  return createDiskShare(sharePercent, () => freeDiskBytes(folder), writtenBytes);
}
