import { hasMoreValues, JsonlError, type JsonStream, type LocatedText } from '@svc/jsonl-v23/json';
import { shorten } from '@svc/tabular';
import { isPinned } from '../cache/file-cache.ts';
import { HubError, listNames } from '../errors.ts';
import { unknownRevision } from '../http/errors.ts';
import type { Requester } from '../http/requester.ts';
import { MAX_ENTRIES } from './metadata.ts';
import { validateDatasetPath } from './validate-path.ts';

export interface Repository {
  /** Current id: renamed and legacy names lead to another one. */
  readonly id: string;
  readonly revision: string;
  readonly commit: string;
  /** Whether the hub serves its files to everybody. */
  readonly isPublic: boolean;
  /** What the hub says about the repository: description, citation, tags and the like. */
  readonly about: RepositoryInfo;
}

const MAX_INFO_BYTES = 8 * 1024 * 1024;

/**
 * Resolves a dataset and a revision to a commit. Renamed and legacy names are followed. A public repository at a full
 * commit comes from the cache, if the hub was asked on the same day.
 */
export async function openRepository(
  requester: Requester,
  path: string,
  revision: string,
): Promise<Repository> {
  const cache = isPinned(revision) ? requester.context.cache : undefined;
  const key = { dataset: path, commit: revision, document: 'info' } as const;
  const kept = await cache?.load(key);
  if (kept) return JSON.parse(new TextDecoder().decode(kept)) as Repository;
  const repository = await requestRepository(requester, path, revision);
  if (repository.isPublic && repository.commit === revision) {
    // The card belongs to the default branch.
    const { cardData: _, ...about } = repository.about;
    await cache?.save(key, JSON.stringify({ ...repository, about }));
  }
  return repository;
}

async function requestRepository(requester: Requester, path: string, revision: string): Promise<Repository> {
  const suffix = `/revision/${encodeURIComponent(revision)}`;
  const ask = (id: string): Promise<{ about: RepositoryInfo; suffixKept: boolean }> => {
    const url = apiUrl(requester, id, suffix);
    for (const field of INFO_FIELDS) url.searchParams.append('expand', field);
    const limits = { maxBytes: MAX_INFO_BYTES };
    return requester.readJson({ kind: 'info', url }, limits, async (json, response) => ({
      about: await readInfo(json),
      suffixKept: response.url.pathname.endsWith(suffix),
    }));
  };
  try {
    let { about, suffixKept } = await ask(path);
    // A redirect of a renamed repository that forgets the revision would lead to the default branch.
    if (!suffixKept && currentId(about, path) !== path) {
      ({ about, suffixKept } = await ask(currentId(about, path)));
    }
    const commit = about['sha'];
    if (typeof commit !== 'string' || !/^[\w.-]{1,64}$/.test(commit)) {
      throw new HubError('hub_bad_response', `The response of the hub has no commit for ${shorten(path)}.`);
    }
    if (about['disabled'] === true) {
      throw new HubError('hub_gated', `The hub has disabled dataset ${shorten(path)}.`);
    }
    const isPublic = about['private'] === false && about['gated'] === false;
    return { id: currentId(about, path), revision, commit, isPublic, about };
  } catch (error) {
    if (error instanceof HubError && error.code === 'hub_revision_not_found') {
      throw await withRevisions(requester, path, revision, error);
    }
    throw error;
  }
}

function currentId(about: RepositoryInfo, asked: string): string {
  try {
    return validateDatasetPath(about['id']);
  } catch {
    return asked;
  }
}

/** The error for a missing revision, with the existing branches and tags, if the hub lists them. */
async function withRevisions(
  requester: Requester,
  path: string,
  revision: string,
  error: HubError,
): Promise<HubError> {
  let available: string[] = [];
  try {
    const url = apiUrl(requester, path, '/refs');
    const limits = { maxBytes: MAX_INFO_BYTES };
    available = await requester.readJson({ kind: 'refs', url }, limits, readRevisionNames);
  } catch (failure) {
    requester.context.signal?.throwIfAborted();
    // The error is known; the list is optional.
    if (!(failure instanceof HubError)) throw failure;
  }
  const suffix = available.length === 0 ? '' : `: it has ${listNames(available)}`;
  return new HubError('hub_revision_not_found', `${unknownRevision({ dataset: path, revision })}${suffix}.`, {
    cause: error,
    details: { ...error.details, available },
  });
}

export function apiUrl(requester: Requester, id: string, suffix: string): URL {
  return requester.urlOf(`/api/datasets/${id}${suffix}`);
}

/** Members of a repository's description that are read. They are requested by name: the hub omits some otherwise. */
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
] as const;

const MAX_MEMBER_LENGTH = 1024 * 1024;
/** The hub sends some thirty. Names of members are held to find duplicates. */
const MAX_MEMBERS = 1_000;
/** Names for the error of an unknown revision. */
const MAX_REVISIONS = 10_000;

/** What the hub says about a repository: the members of `INFO_FIELDS` and `id`. */
export type RepositoryInfo = Readonly<Record<string, unknown>>;

/**
 * Leaves out members of other names, and members that are too large to be parsed on this thread: the card is then read
 * from its file. All but the card are plain values or lists of texts.
 */
async function readInfo(json: JsonStream): Promise<RepositoryInfo> {
  const info: Record<string, unknown> = {};
  let members = 0;
  for await (const key of json.members()) {
    members += 1;
    if (members > MAX_MEMBERS) {
      throw new HubError('hub_bad_response', `The hub's answer has more than ${MAX_MEMBERS} members.`);
    }
    if (key !== 'id' && !INFO_FIELDS.some((field) => field === key)) continue;
    const member = await json.text();
    if (member.text.length > MAX_MEMBER_LENGTH || hasMoreValues(member.text, MAX_ENTRIES)) continue;
    const value = parse(member);
    if (key === 'cardData' || typeof value !== 'object') info[key] = value;
    else if (Array.isArray(value)) info[key] = value.filter((entry) => typeof entry === 'string');
  }
  return info;
}

/** Reads the names of branches and tags. @throws JsonlError if the text is not a JSON object of lists */
async function readRevisionNames(json: JsonStream): Promise<string[]> {
  const names: string[] = [];
  for await (const kind of json.members()) {
    if (kind !== 'branches' && kind !== 'tags') continue;
    for await (const _ of json.items()) {
      if (names.length >= MAX_REVISIONS || (await json.peek()) !== 'object') continue;
      for await (const key of json.members()) {
        if (key !== 'name' || (await json.peek()) !== 'string') continue;
        names.push(String(await json.value()));
      }
    }
  }
  return names;
}

/** The parser of the runtime: several times as fast as `JsonStream`'s, and the numbers are small. */
function parse({ text, location }: LocatedText): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new JsonlError('invalid_json', 'Invalid JSON', location);
  }
}
