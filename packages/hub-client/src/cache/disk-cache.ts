import { createHash } from 'node:crypto';
import type { ByteSource } from '@svc/tabular/internal';
import { CachedFile } from './cached-file.ts';
import { EntryStore } from './entry-store.ts';
import type { CacheKey, CacheOptions, DocumentKey, FileCache } from './file-cache.ts';

/** Opens a cache in a folder, which several processes may share. Nothing is read or written until a file is. */
export function openDiskCache(options: CacheOptions): FileCache {
  const store = new EntryStore(options);
  return {
    open(file, key) {
      const access = key.reader === 'everybody' ? null : key.reader.access;
      return new CachedFile(file, store, (part) => entryName(file, key, part), access);
    },
    async load(key) {
      const bytes = await store.load(documentName(key, options.dateMs()));
      // Blocks have checksums, and the mark shows that none is missing.
      return bytes?.at(-1) === END_MARK ? bytes : null;
    },
    async save(key, json) {
      await store.save(documentName(key, options.dateMs()), new TextEncoder().encode(`${json}\n`));
    },
  };
}

/** The name of an entry: it reveals no path, dataset or token. */
function entryName({ path, byteLength }: ByteSource, key: CacheKey, part: string): string {
  const { endpoint, dataset, commit, reader } = key;
  const who = reader === 'everybody' ? reader : sha256(`reader ${reader.token ?? ''}`);
  return sha256(JSON.stringify([1, endpoint, dataset, commit, path, byteLength, who, part]));
}

/** A line feed, which compact JSON does not have. */
const END_MARK = 10;
const DAY_MS = 24 * 60 * 60 * 1000;

function documentName({ endpoint, dataset, commit, document }: DocumentKey, dateMs: number): string {
  return sha256(JSON.stringify([1, endpoint, dataset, commit, document, Math.floor(dateMs / DAY_MS)]));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
