import { createHash } from 'node:crypto';
import type { ByteSource } from '@svc/tabular/internal';
import { CachedFile } from './cached-file.ts';
import { EntryStore } from './entry-store.ts';
import type { CacheKey, CacheOptions, FileCache } from './file-cache.ts';

/** Opens a cache in a folder, which several processes may share. Nothing is read or written until a file is. */
export function openDiskCache(options: CacheOptions): FileCache {
  const store = new EntryStore(options);
  return {
    open(file, key) {
      const access = key.reader === 'everybody' ? null : key.reader.access;
      return new CachedFile(file, store, (part) => entryName(file, key, part), access);
    },
  };
}

/** The name of an entry: it reveals no path, dataset or token. */
function entryName({ path, byteLength }: ByteSource, key: CacheKey, part: string): string {
  const { endpoint, dataset, commit, reader } = key;
  const who = reader === 'everybody' ? reader : sha256(`reader ${reader.token ?? ''}`);
  return sha256(JSON.stringify([1, endpoint, dataset, commit, path, byteLength, who, part]));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
