import type { ByteSource } from '@svc/tabular/internal';

/** Whether the hub lets the reader have the files of a repository. */
export interface AccessCheck {
  /** The hub has just served bytes. */
  confirm(): void;
  /** Requests one byte, unless the hub has served bytes before. @throws as `readRange`, if the hub refuses */
  check(file: ByteSource, signal: AbortSignal | undefined): Promise<void>;
}

/**
 * Makes a check that comes before any file of a repository is read from the cache. The hub describes and lists gated
 * datasets to everybody, so only a request for bytes tells. One is enough each time that a dataset is opened.
 */
export function createAccessCheck(): AccessCheck {
  let isConfirmed = false;
  return {
    confirm() {
      isConfirmed = true;
    },
    async check(file, signal) {
      if (isConfirmed || file.byteLength === 0) return;
      await file.readRange(0, 1, signal);
      isConfirmed = true;
    },
  };
}
