/**
 * A key as it was written, with quotes and escapes, and the keys that followed it. Objects of one shape have the same
 * keys in the same order: then reading a key is one comparison, and no string is made.
 */
export class CachedKey {
  readonly key: string;
  readonly quoted: string;
  /** The two keys that followed this one last, the newest first. */
  next: CachedKey | null = null;
  other: CachedKey | null = null;
  /** Precedes the first key of the objects that are values of this key. */
  inner: CachedKey | null = null;

  constructor(key: string, quoted: string) {
    this.key = key;
    this.quoted = quoted;
  }
}
