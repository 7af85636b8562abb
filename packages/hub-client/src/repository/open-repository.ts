import { shorten } from '@svc/tabular/internal';
import { HubError } from '../errors.ts';
import { unknownRevision } from '../http/errors.ts';
import type { RequestContext } from '../http/request.ts';
import type { Requester } from '../http/requester.ts';
import type { ResponseHeaders } from '../http/transport.ts';
import { validateDatasetPath } from './validate-path.ts';

/** A file of a repository, as its listing states it. */
export interface ListedFile {
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the content, for files in the hub's file storage. */
  readonly sha256: string | null;
}

/** A repository at one commit. */
export interface Repository {
  /** Current id: renamed and legacy names lead to another one. */
  readonly id: string;
  /** The branch, tag or commit that was asked for. */
  readonly revision: string;
  readonly commit: string;
  /** Whether the hub serves its files to everybody. */
  readonly isPublic: boolean;
  /** What the hub says about the repository: description, citation, tags and the like. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** A page of a listing has 1,000 entries of some 200 bytes. */
const MAX_JSON_BYTES = 32 * 1024 * 1024;
/** The hub itself allows 100,000 files. */
const MIN_ENTRIES_OF_PAGE = 20;
const MAX_LISTED_ENTRIES = 200_000;
/** Without these, the response lists every file, up to some length. */
const INFO_FIELDS = [
  'sha',
  'private',
  'gated',
  'disabled',
  'description',
  'citation',
  'cardData',
  'tags',
  'lastModified',
];
const MAX_NAMED_REVISIONS = 20;

/**
 * Resolves a dataset and a revision to a commit. Renamed and legacy names are followed.
 *
 * @throws HubError `hub_dataset_not_found`, `hub_revision_not_found` (with what there is), `hub_gated` where the hub has
 *   disabled it, and those of requests
 */
export async function openRepository(
  requester: Requester,
  path: string,
  revision: string,
  context: RequestContext,
): Promise<Repository> {
  const suffix = `/revision/${encodeURIComponent(revision)}`;
  const ask = async (id: string): Promise<{ value: unknown; suffixKept: boolean }> => {
    const url = apiUrl(requester, id, suffix);
    for (const field of INFO_FIELDS) url.searchParams.append('expand', field);
    const { value, response } = await requester.readJson({ kind: 'info', url }, context, MAX_JSON_BYTES);
    return { value, suffixKept: response.url.pathname.endsWith(suffix) };
  };
  try {
    let { value, suffixKept } = await ask(path);
    let about = asRecord(value);
    // A redirect of a renamed repository that forgets the revision would lead to the default branch.
    if (about !== null && !suffixKept && currentId(about, path) !== path) {
      ({ value, suffixKept } = await ask(currentId(about, path)));
      about = asRecord(value);
    }
    const commit = about?.['sha'];
    if (about === null || typeof commit !== 'string' || !/^[\w.-]{1,64}$/.test(commit)) {
      throw new HubError('hub_bad_response', `The response of the hub has no commit for ${shorten(path)}.`);
    }
    if (about['disabled'] === true) {
      throw new HubError('hub_gated', `The hub has disabled dataset ${shorten(path)}.`);
    }
    const isPublic = about['private'] === false && about['gated'] === false;
    return { id: currentId(about, path), revision, commit, isPublic, about };
  } catch (error) {
    if (error instanceof HubError && error.code === 'hub_revision_not_found') {
      throw await withRevisions(requester, path, revision, context, error);
    }
    throw error;
  }
}

function currentId(about: Readonly<Record<string, unknown>>, asked: string): string {
  try {
    return validateDatasetPath(about['id']);
  } catch {
    return asked;
  }
}

/** The error for a missing revision, with the branches and tags that there are, if the hub tells them. */
async function withRevisions(
  requester: Requester,
  path: string,
  revision: string,
  context: RequestContext,
  error: HubError,
): Promise<HubError> {
  const available: string[] = [];
  try {
    const url = apiUrl(requester, path, '/refs');
    const { value } = await requester.readJson({ kind: 'refs', url }, context, MAX_JSON_BYTES);
    for (const kind of ['branches', 'tags']) {
      const refs = asRecord(value)?.[kind];
      for (const ref of Array.isArray(refs) ? refs : []) {
        const name = asRecord(ref)?.['name'];
        if (typeof name === 'string') available.push(name);
      }
    }
  } catch (failure) {
    context.signal?.throwIfAborted();
    // The error is known; the list is optional.
    if (!(failure instanceof HubError)) throw failure;
  }
  const listed = available.slice(0, MAX_NAMED_REVISIONS).join(', ');
  const more =
    available.length > MAX_NAMED_REVISIONS ? ` and ${available.length - MAX_NAMED_REVISIONS} more` : '';
  const suffix = available.length === 0 ? '' : `: it has ${listed}${more}`;
  return new HubError('hub_revision_not_found', `${unknownRevision({ dataset: path, revision })}${suffix}.`, {
    cause: error,
    details: { ...error.details, available },
  });
}

/**
 * Lists all files of a repository at its commit, every page of the listing.
 *
 * @throws HubError `hub_bad_response` where pages lead elsewhere or entries make no sense, `hub_unsupported_dataset` where
 *   there are too many
 */
export async function listFiles(
  requester: Requester,
  repository: Pick<Repository, 'id' | 'commit'>,
  context: RequestContext,
): Promise<ListedFile[]> {
  const files: ListedFile[] = [];
  const seen = new Set<string>();
  let url: URL | null = apiUrl(requester, repository.id, `/tree/${encodeURIComponent(repository.commit)}`);
  url.searchParams.set('recursive', 'true');
  for (let entries = 0; url !== null; ) {
    if (seen.has(url.href))
      throw new HubError('hub_bad_response', 'The pages of the listing of the hub form a loop.');
    seen.add(url.href);
    const { value, response } = await requester.readJson({ kind: 'tree', url }, context, MAX_JSON_BYTES);
    if (!Array.isArray(value))
      throw new HubError('hub_bad_response', 'The listing of the hub is not an array.');
    // A page without entries counts too, or a listing of them would have no end.
    entries += Math.max(value.length, MIN_ENTRIES_OF_PAGE);
    if (entries > MAX_LISTED_ENTRIES) {
      throw new HubError('hub_unsupported_dataset', `The dataset has more than ${MAX_LISTED_ENTRIES} files.`);
    }
    for (const entry of value) {
      const file = readEntry(asRecord(entry));
      if (file !== null) files.push(file);
    }
    url = nextPage(response.headers, response.url);
    if (url !== null && url.origin !== requester.endpoint.origin) {
      throw new HubError('hub_bad_response', `The next page of the listing of the hub is on ${url.host}.`);
    }
  }
  return files;
}

function readEntry(entry: Readonly<Record<string, unknown>> | null): ListedFile | null {
  if (entry?.['type'] !== 'file') return null;
  const { path, size } = entry;
  const lfs = asRecord(entry['lfs']);
  const sane =
    typeof path === 'string' &&
    path.isWellFormed() &&
    Number.isSafeInteger(size) &&
    (size as number) >= 0 &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
  if (!sane) throw new HubError('hub_bad_response', 'The listing of the hub has an invalid entry.');
  const sha256 = lfs?.['oid'];
  return {
    path,
    size: size as number,
    sha256: typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : null,
  };
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

function apiUrl(requester: Requester, id: string, suffix: string): URL {
  return new URL(`${requester.endpoint.href.replace(/\/$/, '')}/api/datasets/${id}${suffix}`);
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
