import type { ByteSource } from '@svc/tabular';

/** What identifies the bytes of a file, and who may read them. */
export interface CacheKey {
  readonly dataset: string;
  /** A full commit hash, because a branch or tag may change its commit. */
  readonly commit: string;
  /** Whom the hub serves the file to: everybody, or the owner of a token. */
  readonly reader: 'everybody' | { readonly token: string | undefined; readonly access: AccessCheck };
}

/** What the hub says about a public repository at a full commit hash. */
export interface DocumentKey extends Pick<CacheKey, 'dataset' | 'commit'> {
  readonly document: 'info' | 'tree';
}

export interface FileCache {
  /** A file that is read from the cache if that has the bytes, and fills it otherwise. */
  open(file: ByteSource, key: CacheKey): ByteSource;
  /** A document that was saved on the same day (UTC), because its repository may stop being public; else null. */
  load(key: DocumentKey): Promise<Uint8Array | null>;
  /** Saves a document of compact JSON, if the cache can be written. */
  save(key: DocumentKey, json: string): Promise<void>;
}

export interface CacheOptions {
  /** Address of the hub whose bytes are kept. */
  readonly endpoint: string;
  readonly folder: string;
  readonly maxBytes: number;
  /** The time of day, since 1970. */
  readonly dateMs: () => number;
}

/** Whether a commit is a full hash, SHA-1 or SHA-256. */
export function isPinned(commit: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(commit);
}

/**
 * Whether the hub lets the reader have the files of a repository. The hub describes and lists gated datasets to
 * everybody, so only a request for bytes tells. One is enough each time that a dataset is opened.
 */
export class AccessCheck {
  isConfirmed = false;

  /** Requests one byte, unless the hub has served bytes before. @throws as `readRange`, if the hub refuses */
  async check(file: ByteSource, signal: AbortSignal | undefined): Promise<void> {
    if (this.isConfirmed || file.byteLength === 0) return;
    await file.readRange(0, 1, signal);
    this.isConfirmed = true;
  }
}
