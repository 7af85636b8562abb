import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { OwnBytes } from '@svc/jsonl-v23/bytes';
import type { CacheOptions } from './file-cache.ts';

// An entry is a file of blocks, each followed by its SHA-256, so that any part of it can be checked before it is used.
const BLOCK_BYTES = 1024 * 1024;
const DIGEST_BYTES = 32;
const STORED_BLOCK_BYTES = BLOCK_BYTES + DIGEST_BYTES;

function storedSize(byteLength: number): number {
  return byteLength + DIGEST_BYTES * Math.ceil(byteLength / BLOCK_BYTES);
}

/** The digest of a block also covers its entry and place, so that no other block passes for it. */
function digestOf(name: string, index: number, block: Uint8Array): Uint8Array {
  return createHash('sha256').update(`${name} ${index} `).update(block).digest();
}

export class EntryReader {
  readonly name: string;
  readonly #handle: FileHandle;
  readonly byteLength: number;

  constructor(name: string, handle: FileHandle, size: number) {
    this.name = name;
    this.#handle = handle;
    this.byteLength = size - DIGEST_BYTES * Math.ceil(size / STORED_BLOCK_BYTES);
  }

  /** The bytes from `start` to `end`; null if a block of them is damaged. @throws the signal's reason */
  async read(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes | null> {
    const bytes = new Uint8Array(end - start);
    for (let offset = start; offset < end; ) {
      signal?.throwIfAborted();
      const block = await this.readFrom(offset);
      if (block === null) return null;
      bytes.set(block.subarray(0, end - offset), offset - start);
      offset += block.length;
    }
    return bytes;
  }

  /** The block that has the byte at `offset`, from that byte on; null if it is damaged. */
  async readFrom(offset: number): Promise<OwnBytes | null> {
    const index = Math.floor(offset / BLOCK_BYTES);
    const start = index * BLOCK_BYTES;
    const length = Math.min(BLOCK_BYTES, this.byteLength - start);
    const stored = new Uint8Array(length + DIGEST_BYTES);
    const reading = this.#handle.read(stored, 0, stored.length, index * STORED_BLOCK_BYTES);
    // A file system that fails to read a block has lost it.
    const { bytesRead } = await reading.catch(() => ({ bytesRead: 0 }));
    const block = stored.subarray(0, length);
    const isWhole =
      bytesRead === stored.length &&
      Buffer.compare(digestOf(this.name, index, block), stored.subarray(length)) === 0;
    return isWhole ? block.subarray(offset - start) : null;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

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
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = join(this.#folder, `${TEMPORARY}${randomUUID()}`);
      return new PendingEntry(name, await open(temporary, 'wx', 0o600), { temporary, path });
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

  async save(name: string, bytes: Uint8Array): Promise<void> {
    const pending = await this.begin(name, bytes.length);
    await pending?.add(bytes);
    await pending?.commit();
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

/**
 * An entry that is being written, until it is committed or discarded. Bytes that cannot be written make it one that is
 * discarded.
 */
export class PendingEntry {
  readonly #name: string;
  readonly #handle: FileHandle;
  readonly #paths: { readonly temporary: string; readonly path: string };
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #blockLength = 0;
  #index = 0;
  #isBroken = false;

  constructor(
    name: string,
    handle: FileHandle,
    paths: { readonly temporary: string; readonly path: string },
  ) {
    this.#name = name;
    this.#handle = handle;
    this.#paths = paths;
  }

  async add(chunk: Uint8Array): Promise<void> {
    try {
      for (let offset = 0; offset < chunk.length && !this.#isBroken; ) {
        const part = chunk.subarray(offset, offset + BLOCK_BYTES - this.#blockLength);
        this.#block.set(part, this.#blockLength);
        this.#blockLength += part.length;
        offset += part.length;
        if (this.#blockLength === BLOCK_BYTES) await this.#flush();
      }
    } catch {
      this.#isBroken = true;
    }
  }

  async commit(): Promise<void> {
    try {
      if (this.#isBroken) throw new Error('not written');
      if (this.#blockLength > 0) await this.#flush();
      await this.#handle.close();
      await rename(this.#paths.temporary, this.#paths.path);
    } catch {
      await this.discard();
    }
  }

  async discard(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(this.#paths.temporary, { force: true }).catch(() => undefined);
  }

  async #flush(): Promise<void> {
    const block = this.#block.subarray(0, this.#blockLength);
    const stored = Buffer.concat([block, digestOf(this.#name, this.#index, block)]);
    let written = 0;
    while (written < stored.length) {
      const { bytesWritten } = await this.#handle.write(stored, written);
      written += bytesWritten;
    }
    this.#index += 1;
    this.#blockLength = 0;
  }
}
