import { ownText } from '@svc/jsonl-v23/bytes';
import { isJsonObject, JsonStream, type JsonValue } from '@svc/jsonl-v23/json';
import { inSlices } from '@svc/tabular';
import { isPinned } from '../cache/file-cache.ts';
import { HubError } from '../errors.ts';
import type { Requester } from '../http/requester.ts';
import type { ResponseHeaders } from '../http/transport.ts';
import { apiUrl, type Repository } from './open-repository.ts';

export interface ListedFile {
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the content, for files in the hub's file storage. */
  readonly sha256: string | null;
}

/** A page of the public hub has at most 1,000 entries of some 200 bytes; other hubs may send all in one. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024;
/** An entry has a path, which file systems limit to 4 KiB, and some hashes and dates. */
const MAX_ENTRY_LENGTH = 64 * 1024;
/** A page with fewer files counts as this many, so that a listing of empty pages ends. */
const MIN_ENTRIES_OF_PAGE = 20;
/** As many as the hub itself allows. They are all held while the splits are found. */
const MAX_LISTED_ENTRIES = 100_000;

/** A listing of more files is not cached: writing it would take long. */
const MAX_KEPT_FILES = 10_000;

/** Control characters, which terminals obey, and characters that change the order in which a name is shown. */
const UNSAFE_CHARACTERS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** All files of a repository at its commit, by their paths. */
export async function listFiles(
  requester: Requester,
  repository: Pick<Repository, 'id' | 'commit' | 'isPublic'>,
): Promise<ReadonlyMap<string, ListedFile>> {
  const { id: dataset, commit, isPublic } = repository;
  const cache = isPublic && isPinned(commit) ? requester.context.cache : undefined;
  const key = { dataset, commit, document: 'tree' } as const;
  const kept = await cache?.load(key);
  const files = new Map<string, ListedFile>();
  if (kept) {
    await readPage(new JsonStream(inSlices([kept])), MAX_LISTED_ENTRIES, files);
    return files;
  }
  await requestPages(requester, repository, files);
  if (files.size <= MAX_KEPT_FILES) await cache?.save(key, writePage(files.values()));
  return files;
}

async function requestPages(
  requester: Requester,
  repository: Pick<Repository, 'id' | 'commit'>,
  files: Map<string, ListedFile>,
): Promise<void> {
  const seen = new Set<string>();
  let entries = 0;
  let url: URL | null = apiUrl(requester, repository.id, `/tree/${encodeURIComponent(repository.commit)}`);
  url.searchParams.set('recursive', 'true');
  while (url !== null) {
    if (seen.has(url.href))
      throw new HubError('hub_bad_response', 'The pages of the listing of the hub form a loop.');
    seen.add(url.href);
    const maxEntries = MAX_LISTED_ENTRIES - entries;
    const page: { readonly entryCount: number; readonly next: URL | null } = await requester.readJson(
      { kind: 'tree', url },
      { maxBytes: MAX_PAGE_BYTES, maxValueLength: MAX_ENTRY_LENGTH },
      async (json, response) => ({
        entryCount: await readPage(json, maxEntries, files),
        next: nextPage(response.headers, response.url),
      }),
    );
    entries += Math.max(page.entryCount, MIN_ENTRIES_OF_PAGE);
    if (entries > MAX_LISTED_ENTRIES) throw tooManyFiles();
    url = page.next;
    if (url !== null && url.origin !== requester.endpoint.origin) {
      throw new HubError('hub_bad_response', `The next page of the listing of the hub is on ${url.host}.`);
    }
  }
}

/** Adds the files of a page entry by entry, so that no page blocks the thread. @returns the number of entries */
async function readPage(
  json: JsonStream,
  maxEntries: number,
  files: Map<string, ListedFile>,
): Promise<number> {
  let count = 0;
  for await (const _ of json.items()) {
    count += 1;
    if (count > maxEntries) throw tooManyFiles();
    const file = readEntry(await json.value());
    if (file !== null) files.set(file.path, file);
  }
  return count;
}

function writePage(files: Iterable<ListedFile>): string {
  const entries = Array.from(files, ({ path, size, sha256 }) => ({
    type: 'file',
    path,
    size,
    ...(sha256 !== null && { lfs: { oid: sha256 } }),
  }));
  return JSON.stringify(entries);
}

function readEntry(entry: JsonValue): ListedFile | null {
  if (!isJsonObject(entry) || entry['type'] !== 'file') return null;
  const { path, size, lfs } = entry;
  const sane =
    typeof path === 'string' &&
    path.isWellFormed() &&
    !UNSAFE_CHARACTERS.test(path) &&
    Number.isSafeInteger(size) &&
    (size as number) >= 0 &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!sane) throw new HubError('hub_bad_response', 'The listing of the hub has an invalid entry.');
  const sha256 = isJsonObject(lfs) ? lfs['oid'] : null;
  // All files are held, and their pages are not.
  return {
    path: ownText(path),
    size: size as number,
    sha256: typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? ownText(sha256) : null,
  };
}

function tooManyFiles(): HubError {
  return new HubError('hub_unsupported_dataset', `The dataset has more than ${MAX_LISTED_ENTRIES} files.`);
}

/** The address that a `Link` header calls next (RFC 8288); null on the last page. */
function nextPage(headers: ResponseHeaders, from: URL): URL | null {
  const links = (headers.get('link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g);
  for (const [, target = '', parameters = ''] of links) {
    if (!/;\s*rel\s*=\s*"?next\b/i.test(parameters)) continue;
    if (URL.canParse(target, from.href)) return new URL(target, from);
    throw new HubError('hub_bad_response', 'The next page of the listing of the hub has no valid address.');
  }
  return null;
}
