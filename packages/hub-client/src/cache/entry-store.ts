import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { OwnBytes } from '@svc/jsonl-v23/internal';
import { EntryReader, EntryWriter, storedSize } from './entry.ts';
import type { CacheOptions } from './file-cache.ts';

/** How the names of unfinished entries begin. */
const TEMPORARY = 'unfinished-';

/** An unfinished entry that nobody has written to for so long belongs to a process that died. */
const MAX_IDLE_MS = 60 * 60 * 1000;
/** Small entries count too. */
const MAX_ENTRIES = 200_000;

/** Removes the entries that were not used for the longest time, until the rest has at most `maxBytes`. */
async function removeOldest(folder: string, maxBytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const entries: { readonly path: string; readonly size: number; readonly mtimeMs: number }[] = [];
  let total = 0;
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const found = await stat(path).catch(() => null);
    if (found === null) continue;
    const { size, mtimeMs } = found;
    if (!entry.name.startsWith(TEMPORARY)) entries.push({ path, size, mtimeMs });
    else if (Date.now() - mtimeMs > MAX_IDLE_MS) await rm(path, { force: true }).catch(() => undefined);
    total += size;
  }
  entries.sort((a, b) => a.mtimeMs - b.mtimeMs);
  let left = entries.length;
  for (const { path, size } of entries) {
    if (total <= maxBytes && left <= MAX_ENTRIES) return;
    await rm(path, { force: true }).catch(() => undefined);
    total -= size;
    left -= 1;
  }
}

/** An entry is marked as used at most this often. */
const TOUCH_INTERVAL_MS = 60_000;

/**
 * The entries of a cache folder, which any number of processes share: an entry appears by one rename when it is complete,
 * and never changes. Nothing here throws for a file that cannot be read or written: the cache then has no such entry.
 */
export class EntryStore {
  readonly #folder: string;
  readonly #maxBytes: number;
  /** Bytes that may be written before the folder is looked through again. */
  #allowance = 0;
  #removal: Promise<void> = Promise.resolve();

  constructor({ folder, maxBytes }: CacheOptions) {
    this.#folder = folder;
    this.#maxBytes = maxBytes;
  }

  /** Opens an entry of a length, or of any; null if there is none. The caller closes it. */
  async open(name: string, byteLength?: number): Promise<EntryReader | null> {
    const path = this.#pathOf(name);
    const handle = await open(path, 'r').catch(() => null);
    if (handle === null) return null;
    try {
      const { size, mtimeMs } = await handle.stat();
      if (byteLength !== undefined && size !== storedSize(byteLength)) throw new Error('wrong size');
      const now = Date.now();
      if (now - mtimeMs > TOUCH_INTERVAL_MS)
        await utimes(path, now / 1000, now / 1000).catch(() => undefined);
      return new EntryReader(name, handle, size);
    } catch {
      await handle.close().catch(() => undefined);
      await this.remove(name);
      return null;
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.#pathOf(name), { force: true }).catch(() => undefined);
  }

  /** Begins a file of at most `maxBytes` bytes; null if it is too large for the cache, or cannot be written. */
  async begin(name: string, maxBytes: number): Promise<PendingEntry | null> {
    const size = storedSize(maxBytes);
    if (size > this.#maxBytes / 2) return null;
    try {
      await this.#makeRoom(size);
      const path = this.#pathOf(name);
      await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
      const temporary = join(this.#folder, `${TEMPORARY}${randomUUID()}`);
      const writer = new EntryWriter(name, await open(temporary, 'wx', 0o600));
      return new PendingEntry(writer, temporary, (as) => this.#pathOf(as));
    } catch {
      return null;
    }
  }

  /** Reads a whole entry; null if it is absent or damaged, which removes it. */
  async load(name: string): Promise<Uint8Array | null> {
    const entry = await this.open(name);
    return entry === null ? null : await this.readAndClose(entry, 0, entry.byteLength);
  }

  /** Reads bytes of an open entry; null if it is damaged, which removes it. @throws the signal's reason */
  async readAndClose(
    entry: EntryReader,
    start: number,
    end: number,
    signal?: AbortSignal,
  ): Promise<OwnBytes | null> {
    try {
      const bytes = await entry.read(start, end, signal);
      if (bytes === null) await this.remove(entry.name);
      return bytes;
    } finally {
      await entry.close();
    }
  }

  /** Writes a whole entry. */
  async save(name: string, bytes: Uint8Array): Promise<void> {
    const pending = await this.begin(name, bytes.length);
    await pending?.add(bytes);
    await pending?.commit(name);
  }

  async #makeRoom(size: number): Promise<void> {
    this.#allowance -= size;
    if (this.#allowance >= 0) return;
    const step = Math.max(this.#maxBytes / 10, size);
    this.#allowance = step - size;
    this.#removal = this.#removal.then(() => removeOldest(this.#folder, this.#maxBytes - step));
    await this.#removal;
  }

  #pathOf(name: string): string {
    return join(this.#folder, name.slice(0, 2), name.slice(2));
  }
}

/** An entry that is being written, until it is committed or discarded. */
export class PendingEntry {
  readonly #writer: EntryWriter;
  readonly #temporary: string;
  readonly #pathOf: (name: string) => string;
  #isBroken = false;

  constructor(writer: EntryWriter, temporary: string, pathOf: (name: string) => string) {
    this.#writer = writer;
    this.#temporary = temporary;
    this.#pathOf = pathOf;
  }

  get byteLength(): number {
    return this.#writer.byteLength;
  }

  async add(bytes: Uint8Array): Promise<void> {
    if (this.#isBroken) return;
    try {
      await this.#writer.add(bytes);
    } catch {
      this.#isBroken = true;
    }
  }

  /** Makes the entry appear under the name that it was begun with. */
  async commit(name: string): Promise<void> {
    try {
      if (this.#isBroken) throw new Error('not written');
      await this.#writer.end();
      await rename(this.#temporary, this.#pathOf(name));
    } catch {
      await this.discard();
    }
  }

  async discard(): Promise<void> {
    await this.#writer.close().catch(() => undefined);
    await rm(this.#temporary, { force: true }).catch(() => undefined);
  }
}
