import { StoreError } from '../database/errors.ts';
import { type DiskShare, DiskShortage } from './disk-share.ts';

/** Room is asked for in steps. */
const STEP_BYTES = 16 * 1024 * 1024;

/** The room that one import takes on the disk of the database. Disposing gives it back. */
export class ImportRoom implements Disposable {
  readonly #share: DiskShare<object> | null;
  #bytes = 0;
  #reservedBytes = 0;

  /** @param share null where the disk is not known */
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
      throw new StoreError('unavailable', message, { cause, retryAfterMs: 30_000 });
    }
    this.#reservedBytes = reservedBytes;
  }

  [Symbol.dispose](): void {
    this.#share?.release(this);
  }
}
