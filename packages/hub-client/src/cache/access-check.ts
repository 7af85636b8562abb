import type { ByteSource } from '@svc/tabular/internal';

/**
 * Makes sure that the hub still lets the reader have the files of a repository before any of them comes from the cache. The
 * hub describes and lists gated datasets to everybody, so only a request for bytes tells. One is enough for each time that a
 * dataset is opened.
 */
export class AccessCheck {
  #isConfirmed = false;

  /** The hub has just served bytes. */
  confirm(): void {
    this.#isConfirmed = true;
  }

  /** Requests one byte, unless the hub has served bytes before. @throws as `readRange`, where the hub refuses */
  async check(file: ByteSource, signal: AbortSignal | undefined): Promise<void> {
    if (this.#isConfirmed || file.byteLength === 0) return;
    await file.readRange(0, 1, signal);
    this.confirm();
  }
}
