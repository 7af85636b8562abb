import { createHash } from 'node:crypto';
import type { OwnBytes } from '@svc/jsonl-v23/bytes';
import type { ByteSource } from '@svc/tabular';
import { type EntryReader, EntryStore } from './entry-store.ts';
import type { AccessCheck, CacheKey, CacheOptions, DocumentKey, FileCache } from './file-cache.ts';

/** Opens a cache in a folder, which several processes may share. Nothing is read or written until a file is. */
export function openDiskCache(options: CacheOptions): FileCache {
  const store = new EntryStore(options);
  const { endpoint } = options;
  const documentName = ({ dataset, commit, document }: DocumentKey): string => {
    const day = Math.floor(options.dateMs() / DAY_MS);
    return sha256(JSON.stringify([1, endpoint, dataset, commit, document, day]));
  };
  return {
    open(file, key) {
      const access = key.reader === 'everybody' ? null : key.reader.access;
      return new CachedFile(file, store, (part) => entryName(endpoint, file, key, part), access);
    },
    async load(key) {
      const bytes = await store.load(documentName(key));
      // Blocks have checksums, and the mark shows that none is missing.
      return bytes?.at(-1) === END_MARK ? bytes : null;
    },
    async save(key, json) {
      await store.save(documentName(key), new TextEncoder().encode(`${json}\n`));
    },
  };
}

/** The name of an entry: it reveals no path, dataset or token. */
function entryName(
  endpoint: string,
  { path, byteLength }: ByteSource,
  { dataset, commit, reader }: CacheKey,
  part: string,
): string {
  const who = reader === 'everybody' ? reader : sha256(`reader ${reader.token ?? ''}`);
  return sha256(JSON.stringify([1, endpoint, dataset, commit, path, byteLength, who, part]));
}

/** A line feed, which compact JSON does not have. */
const END_MARK = 10;
const DAY_MS = 24 * 60 * 60 * 1000;

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** How much is cached of a file that was not read to its end, as in a preview. */
const MAX_HEAD_BYTES = 16 * 1024 * 1024;
/** Bytes of one request in place of a damaged part of an entry. */
const REPAIR_BYTES = 8 * 1024 * 1024;

/** A file whose ranges, beginning or whole content is cached after the first read. */
class CachedFile implements ByteSource {
  readonly path: string;
  readonly byteLength: number;
  readonly #file: ByteSource;
  readonly #store: EntryStore;
  readonly #nameOf: (part: string) => string;
  readonly #access: AccessCheck | null;

  /** @param access of a file that the hub does not serve to everybody */
  constructor(
    file: ByteSource,
    store: EntryStore,
    nameOf: (part: string) => string,
    access: AccessCheck | null,
  ) {
    this.path = file.path;
    this.byteLength = file.byteLength;
    this.#file = file;
    this.#store = store;
    this.#nameOf = nameOf;
    this.#access = access;
  }

  async readRange(start: number, end: number, signal?: AbortSignal): Promise<OwnBytes> {
    signal?.throwIfAborted();
    const isKept = start >= 0 && start < end && end <= this.byteLength;
    if (!isKept) return await this.#file.readRange(start, end, signal);
    const range = this.#nameOf(`${start}-${end}`);
    const found =
      (await this.#read(range, end - start, 0, end - start, signal)) ??
      (await this.#read(this.#wholeName, this.byteLength, start, end, signal));
    if (found !== null) return found;
    const bytes = await this.#file.readRange(start, end, signal);
    if (this.#access !== null) this.#access.isConfirmed = true;
    await this.#store.save(range, bytes);
    return bytes;
  }

  async *stream(signal?: AbortSignal, head: readonly Uint8Array[] = []): AsyncGenerator<Uint8Array> {
    const whole = await this.#open(this.#wholeName, this.byteLength, signal);
    if (whole === null) yield* this.#fill(signal, await this.#longerHead(head, signal));
    else yield* this.#replay(whole, signal, head);
  }

  get #wholeName(): string {
    return this.#nameOf(`0-${this.byteLength}`);
  }

  /** Opens an entry for a reader whom the hub still serves the file to; null if it is absent. */
  async #open(
    name: string,
    byteLength: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<EntryReader | null> {
    const entry = await this.#store.open(name, byteLength);
    if (entry === null || this.#access === null) return entry;
    try {
      await this.#access.check(this.#file, signal);
      return entry;
    } catch (error) {
      await entry.close();
      throw error;
    }
  }

  /** Bytes of an entry; null if it is absent or damaged, which removes it. */
  async #read(
    name: string,
    byteLength: number,
    start: number,
    end: number,
    signal: AbortSignal | undefined,
  ): Promise<OwnBytes | null> {
    const entry = await this.#open(name, byteLength, signal);
    return entry === null ? null : await this.#store.readAndClose(entry, start, end, signal);
  }

  /** The whole file from its entry; from the hub if the entry is damaged. */
  async *#replay(
    whole: EntryReader,
    signal: AbortSignal | undefined,
    head: readonly Uint8Array[],
  ): AsyncGenerator<Uint8Array> {
    let offset = 0;
    try {
      for (const chunk of head) {
        yield chunk;
        offset += chunk.length;
      }
      while (offset < this.byteLength) {
        signal?.throwIfAborted();
        const block = await whole.readFrom(offset);
        if (block === null) break;
        offset += block.length;
        yield block;
      }
    } finally {
      await whole.close();
    }
    if (offset < this.byteLength) await this.#store.remove(this.#wholeName);
    while (offset < this.byteLength) {
      const end = Math.min(offset + REPAIR_BYTES, this.byteLength);
      const bytes = await this.#file.readRange(offset, end, signal);
      offset = end;
      yield bytes;
    }
  }

  /** The first bytes that the reader has, or more of them from the cache. */
  async #longerHead(
    head: readonly Uint8Array[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Uint8Array[]> {
    const known = head.reduce((sum, chunk) => sum + chunk.length, 0);
    const entry = await this.#open(this.#nameOf('head'), undefined, signal);
    const length = entry?.byteLength ?? 0;
    await entry?.close();
    if (length <= known || length > Math.min(this.byteLength, MAX_HEAD_BYTES)) return head;
    const more = await this.#read(this.#nameOf('head'), length, known, length, signal);
    return more === null ? head : [...head, more];
  }

  /** The whole file from the hub, on the way into the cache: all of it, or its beginning if the reader stops early. */
  async *#fill(signal: AbortSignal | undefined, head: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    const whole = await this.#store.begin(this.#wholeName, this.byteLength);
    const start = await this.#store.begin(this.#nameOf('head'), Math.min(this.byteLength, MAX_HEAD_BYTES));
    const known = head.reduce((sum, chunk) => sum + chunk.length, 0);
    let reached = 0;
    let isDone = false;
    let isBroken = false;
    try {
      for await (const chunk of this.#file.stream(signal, head)) {
        // The head may come from the cache; what comes after it is the hub's.
        if (reached >= known && this.#access !== null) this.#access.isConfirmed = true;
        await whole?.add(chunk);
        if (start !== null && reached < MAX_HEAD_BYTES)
          await start.add(chunk.subarray(0, MAX_HEAD_BYTES - reached));
        reached += chunk.length;
        yield chunk;
      }
      isDone = true;
    } catch (error) {
      isBroken = true;
      throw error;
    } finally {
      await (isDone ? whole?.commit() : whole?.discard());
      await (!isDone && !isBroken && reached > known ? start?.commit() : start?.discard());
    }
  }
}
