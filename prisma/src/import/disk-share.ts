import { statfs } from 'node:fs/promises';
import { StoreError } from '../database/errors.ts';

/** Why there is no room, for a log. */
export class DiskShortage extends Error {
  override readonly name = 'DiskShortage';
}

/**
 * The share of a disk that some users may take together: what they are promised is at most a percentage of what would be
 * free without what they have written.
 */
export class DiskShare<K> {
  readonly #promised = new Map<K, number>();
  readonly #sharePercent: number;
  readonly #freeBytes: () => Promise<number>;
  readonly #writtenBytes: (users: Iterable<K>) => number | Promise<number>;

  /**
   * @param freeBytes of the disk; infinity if unknown
   * @param writtenBytes what these users have written of what they were promised
   */
  constructor(
    sharePercent: number,
    freeBytes: () => Promise<number>,
    writtenBytes: (users: Iterable<K>) => number | Promise<number>,
  ) {
    this.#sharePercent = sharePercent;
    this.#freeBytes = freeBytes;
    this.#writtenBytes = writtenBytes;
  }

  /**
   * Promises a user room, before it is used.
   *
   * @param bytes all that the user takes
   * @throws DiskShortage
   */
  async reserve(user: K, bytes: number): Promise<void> {
    const before = this.#promised.get(user) ?? 0;
    if (bytes <= before) return;
    // Reserve before checking, so that two concurrent calls do not get the same space.
    this.#promised.set(user, bytes);
    const free = await this.#freeBytes();
    const written = await this.#writtenBytes(this.#promised.keys());
    let promised = 0;
    for (const each of this.#promised.values()) promised += each;
    if (promised <= ((free + written) * this.#sharePercent) / 100) return;
    this.#promised.set(user, before);
    throw new DiskShortage(
      `Cannot reserve ${promised} bytes: ${free} bytes are free, and ${written} bytes are written already.`,
    );
  }

  /** Takes the promise back. */
  release(user: K): void {
    this.#promised.delete(user);
  }
}

/** Bytes that an ordinary user can still write to the disk of a folder. */
export async function freeDiskBytes(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await statfs(folder);
  // some file systems do not report their size
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}

/** The share that imports may take of the disk of the database. */
export function importShare({
  folder,
  sharePercent,
}: {
  readonly folder: string;
  readonly sharePercent: number;
}): DiskShare<object> {
  // What is sent may not be on the disk yet, and takes more there, with its log: nothing of it counts as written.
  const writtenBytes = (): number => 0;
  return new DiskShare(sharePercent, () => freeDiskBytes(folder), writtenBytes);
}

/** Room is asked for in steps. */
const STEP_BYTES = 16 * 1024 * 1024;

/** The room that one import takes on the disk of the database. Disposing gives it back. */
export class ImportRoom implements Disposable {
  readonly #share: DiskShare<object> | null;
  #bytes = 0;
  #reservedBytes = 0;

  /** @param share null if the disk is not known */
  constructor(share: DiskShare<object> | null) {
    this.#share = share;
  }

  /** Reserves room for further bytes. @throws StoreError `unavailable` */
  async add(bytes: number): Promise<void> {
    this.#bytes += bytes;
    if (this.#share === null || this.#bytes <= this.#reservedBytes) return;
    const reservedBytes = this.#bytes + STEP_BYTES;
    try {
      await this.#share.reserve(this, reservedBytes);
    } catch (cause) {
      if (!(cause instanceof DiskShortage)) throw cause;
      const message = 'The server is at capacity: no disk space is left for this import. Retry later.';
      throw new StoreError('unavailable', message, { cause, retryAfterMs: 30_000, reason: 'full' });
    }
    this.#reservedBytes = reservedBytes;
  }

  [Symbol.dispose](): void {
    this.#share?.release(this);
  }
}
