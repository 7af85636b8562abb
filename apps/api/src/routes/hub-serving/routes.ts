import { createHash } from 'node:crypto';
import { basename } from 'node:path/posix';
import { compareUtf8 } from '@svc/jsonl-v23/bytes';
import { linesToBytes } from '@svc/pkg-format';
import { type JsonBody, json, ok, type Route, type RouteRequest } from '@svc/service';
import type {
  DatasetSummary,
  HubFile,
  ItemLine,
  LayoutKey,
  ListedHubFile,
  ListedVersion,
  Page,
  StoredItem,
} from '@svc/service/store';
import {
  type ByteRange,
  contentDisposition,
  rangedResponse,
  rangedRoute,
  SAFE,
} from '../../http/send-file.ts';
import type { RouteDeps } from '../deps.ts';
import { cardData } from './files/card.ts';
import type { MeasuredFile } from './files/hub-files.ts';
import { readSections } from './files/plan-files.ts';
import {
  CARD,
  commitOf,
  entryNotFound,
  FOLDERS,
  fromCursor,
  HUB_READ,
  isFilePath,
  isTrue,
  layoutOf,
  limitOf,
  listQuery,
  listResponse,
  makeTopFile,
  makeTopFiles,
  nextPage,
  OBJECTS,
  type Repository,
  readCardFacts,
  readRepository,
  repositoryName,
  TOP_FILES,
  toCursor,
} from './repository.ts';

/** Files that the body of a repository lists at most, as the hub does; the tree has all. */
const MAX_SIBLINGS = 100_000;
const FILES_PER_QUERY = 10_000;

const INFO = {
  type: 'object',
  description: 'a repository at a commit',
  additionalProperties: true,
} as const;

export function infoRoutes(deps: RouteDeps): readonly Route[] {
  const shared = {
    ...HUB_READ,
    query: { blobs: { type: 'string', description: '`true`: each file with its size' } },
    responses: ok('the repository', INFO),
    handle: (request: RouteRequest) =>
      readRepository(deps, request, (repository) => respond(deps, repository, request)),
  };
  return [
    {
      ...shared,
      path: '/api/datasets/svc/{repo}',
      operationId: 'getHubDataset',
      summary: 'A dataset as a repository: its commit, its card and its files',
    },
    {
      ...shared,
      path: '/api/datasets/svc/{repo}/revision/{revision}',
      operationId: 'getHubDatasetRevision',
      summary: 'A dataset as a repository at a revision: `main`, `v<version>` or a commit',
    },
  ];
}

async function respond(deps: RouteDeps, repository: Repository, { query, signal }: RouteRequest) {
  const { hubFiles } = deps.store;
  const key = await layoutOf(deps, repository, signal);
  const soon = await deps.files.factsSoon(key, signal);
  const facts = await readCardFacts(deps, repository, key, soon?.columns ?? null, signal);
  const files: ListedHubFile[] = [];
  for (let isMore = true; isMore && files.length < MAX_SIBLINGS; ) {
    const page = { folder: '', after: files.at(-1)?.path ?? '', limit: FILES_PER_QUERY };
    const found = await hubFiles.list(key, page, signal);
    files.push(...found);
    isMore = found.length === FILES_PER_QUERY;
  }
  const paths = files.map(({ path }) => path);
  return json({
    ...repositoryInfo(repository.dataset),
    siblings: isTrue(query['blobs'])
      ? [
          ...(await makeTopFiles(deps, repository, key, signal)),
          ...(await deps.files.find(key, paths, signal)),
        ].map(({ path, byteLength, tag }) => ({
          rfilename: path,
          size: byteLength,
          blobId: tag.slice(0, 40),
        }))
      : [...TOP_FILES, ...paths].map((path) => ({ rfilename: path })),
    cardData: cardData(facts) as JsonBody,
    // Of what was made so far.
    usedStorage: files.reduce((sum, { byteLength }) => sum + (byteLength ?? 0), 0),
  });
}

function repositoryInfo(dataset: DatasetSummary): { readonly [key: string]: JsonBody } {
  const { id, versionHash, createdAt, updatedAt, description } = dataset;
  return {
    _id: id.replaceAll('-', '').slice(0, 24),
    id: repositoryName(dataset),
    author: 'svc',
    sha: commitOf(versionHash),
    createdAt,
    lastModified: updatedAt,
    private: false,
    gated: false,
    disabled: false,
    tags: [],
    description: description ?? '',
    downloads: 0,
    likes: 0,
  };
}

export function callerRoute(): Route {
  return {
    ...HUB_READ,
    path: '/api/whoami-v2',
    operationId: 'getHubCaller',
    summary: 'Name and role of the key; `anonymous` without configured keys',
    query: {},
    responses: ok('the key', { type: 'object', additionalProperties: true }),
    errors: [],
    handle: async ({ caller: { name, role } }) => {
      return json({
        type: 'user',
        id: name,
        name,
        fullname: name,
        role: role ?? 'viewer',
        orgs: [],
        auth: { type: 'access_token', accessToken: { displayName: name, role: 'read' } },
      });
    },
  };
}

const MAX_DATASETS = 100;

export function listRoute({ store: { datasets } }: RouteDeps): Route {
  return {
    ...HUB_READ,
    path: '/api/datasets',
    operationId: 'listHubDatasets',
    summary: 'Datasets as repositories, newest first',
    query: {
      search: {
        type: 'string',
        maxLength: 1_000,
        format: 'storable-text',
        description: 'part of the name, description or repository id',
      },
      author: { type: 'string', description: 'the owner, which is always `svc`' },
      ...listQuery('repositories', '100'),
    },
    responses: listResponse(OBJECTS),
    handle: async (request) => {
      const { query, signal } = request;
      if (![undefined, 'svc'].includes(query['author'] as string | undefined)) return json([]);
      const search = query['search'] as string | undefined;
      const page = await datasets.list({
        limit: limitOf(query['limit'], MAX_DATASETS),
        signal,
        cursor: query['cursor'] as string | undefined,
        // Repositories are named `svc/<handle or id>`.
        q: search?.replace(/^svc\/?/, '') || undefined,
      });
      return json(page.data.map(repositoryInfo), 200, nextPage(request, page.nextCursor));
    },
  };
}

const MAX_ENTRIES = 1_000;
const MAX_PATHS = 2_000;

const ENTRIES = {
  type: 'array',
  description: 'files and folders',
  items: {
    type: 'object',
    description: 'a file or a folder',
    properties: {
      type: { type: 'string', enum: ['file', 'directory'] },
      oid: { type: 'string' },
      size: { type: 'integer' },
      path: { type: 'string' },
    },
    required: ['type', 'oid', 'size', 'path'],
  },
} as const;

/** A file; a folder has no length. */
type Entry = Omit<MeasuredFile, 'byteLength'> & { readonly byteLength: number | null };

export function treeRoutes(deps: RouteDeps): readonly Route[] {
  const tree = {
    ...HUB_READ,
    query: {
      recursive: { type: 'string', description: '`true`: files in folders too' },
      expand: { type: 'string', description: '`true`: each entry with its commit' },
      ...listQuery('entries', '1,000'),
    },
    responses: listResponse(ENTRIES),
    handle: (request: RouteRequest) =>
      readRepository(deps, request, (repository) => listTree(deps, repository, request)),
  };
  return [
    {
      ...tree,
      path: '/api/datasets/svc/{repo}/tree/{revision}',
      operationId: 'listHubFiles',
      summary: 'The files and folders of a repository',
    },
    {
      ...tree,
      path: '/api/datasets/svc/{repo}/tree/{revision}/{+folder}',
      operationId: 'listHubFolder',
      summary: 'The files of a folder of a repository',
    },
    {
      ...HUB_READ,
      method: 'post',
      path: '/api/datasets/svc/{repo}/paths-info/{revision}',
      operationId: 'findHubFiles',
      summary: 'Find some paths of a repository',
      body: {
        contentType: 'application/json',
        acceptsForm: true,
        schema: {
          type: 'object',
          properties: {
            paths: {
              type: ['array', 'string'],
              items: { type: 'string' },
              maxItems: MAX_PATHS,
            },
            expand: { type: ['boolean', 'string'] },
          },
          required: ['paths'],
        },
        documented: {
          type: 'object',
          properties: {
            paths: { type: 'array', items: { type: 'string' }, maxItems: MAX_PATHS },
            expand: { type: 'boolean' },
          },
          required: ['paths'],
        },
      },
      responses: ok('the entries', ENTRIES),
      handle: (request) =>
        readRepository(deps, request, (repository) => findPaths(deps, repository, request)),
    },
  ];
}

async function listTree(deps: RouteDeps, repository: Repository, request: RouteRequest) {
  const { params, query, signal } = request;
  const folder = (params['folder'] ?? '').replace(/\/$/, '');
  if (folder !== '' && !FOLDERS.includes(folder)) throw entryNotFound(repository.commit);
  const key = await layoutOf(deps, repository, signal);
  const limit = limitOf(query['limit'], MAX_ENTRIES);
  const cursor = fromCursor(query['cursor']);
  const after = isFilePath(cursor) || TOP_FILES.includes(cursor) || FOLDERS.includes(cursor) ? cursor : '';
  const above = folder === '' ? await topEntries(deps, repository, key, signal) : [];
  const hasFiles = folder !== '' || isTrue(query['recursive']);
  const page = { folder: folder === '' ? '' : `${folder}/`, after, limit: limit + 1 };
  const listed = hasFiles ? await deps.store.hubFiles.list(key, page, signal) : [];
  const paths = listed.map(({ path }) => path);
  const files = listed.some(({ byteLength }) => byteLength === null)
    ? await deps.files.find(key, paths, signal)
    : (listed as readonly MeasuredFile[]);
  const entries: readonly Entry[] = [
    ...above.filter(({ path }) => compareUtf8(path, after) > 0),
    ...files,
  ].sort((a, b) => compareUtf8(a.path, b.path));
  const shown = entries.slice(0, limit);
  const next = entries.length > limit ? toCursor(shown.at(-1)?.path ?? '') : null;
  const body = shown.map((entry) => serializeEntry(entry, repository, isTrue(query['expand'])));
  return json(body, 200, nextPage(request, next));
}

async function findPaths(deps: RouteDeps, repository: Repository, { body, signal }: RouteRequest) {
  const key = await layoutOf(deps, repository, signal);
  const { paths, expand } = body as { readonly paths: string | readonly string[]; readonly expand?: unknown };
  const wanted = new Set([paths].flat());
  const isAbove = [...TOP_FILES, ...FOLDERS].some((path) => wanted.has(path));
  const above = isAbove ? await topEntries(deps, repository, key, signal) : [];
  const files = await deps.files.find(key, [...wanted].filter(isFilePath), signal);
  const entries = [...above.filter(({ path }) => wanted.has(path)), ...files];
  return json(entries.map((entry) => serializeEntry(entry, repository, isTrue(expand))));
}

async function topEntries(
  deps: RouteDeps,
  repository: Repository,
  key: LayoutKey,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const folders = FOLDERS.map((path): Entry => {
    const hash = createHash('sha256').update(`${repository.commit}/${path}`).digest('hex');
    return { path, byteLength: null, tag: hash };
  });
  return [...(await makeTopFiles(deps, repository, key, signal)), ...folders];
}

function serializeEntry(
  { path, byteLength, tag }: Entry,
  { commit, dataset }: Repository,
  isExpanded: boolean,
): JsonBody {
  const lastCommit = { id: commit, title: `Version ${dataset.version}`, date: dataset.updatedAt };
  return {
    type: byteLength === null ? 'directory' : 'file',
    oid: tag.slice(0, 40),
    size: byteLength ?? 0,
    path,
    ...(isExpanded ? { lastCommit } : {}),
  };
}

/** Versions that are tags at most: the newest ones. */
const MAX_TAGS = 10_000;
const VERSIONS_PER_PAGE = 1_000;

export function historyRoutes(deps: RouteDeps): readonly Route[] {
  const { datasets } = deps.store;
  return [
    {
      ...HUB_READ,
      path: '/api/datasets/svc/{repo}/refs',
      operationId: 'listHubRefs',
      summary: 'The branch `main`, and a tag `v<version>` for each version',
      query: {},
      responses: ok('branches and tags', { type: 'object', additionalProperties: true }),
      handle: (request) => readRepository(deps, request, (repository) => listRefs(repository, request)),
    },
    {
      ...HUB_READ,
      path: '/api/datasets/svc/{repo}/commits/{revision}',
      operationId: 'listHubCommits',
      summary: 'A commit for each version up to a revision, newest first',
      query: listQuery('commits', '1,000'),
      responses: listResponse(OBJECTS),
      handle: (request) => readRepository(deps, request, (repository) => listCommits(repository, request)),
    },
  ];

  async function listRefs({ dataset, commit }: Repository, { signal }: RouteRequest) {
    const versions: ListedVersion[] = [];
    for (let cursor: string | null | undefined; cursor !== null && versions.length < MAX_TAGS; ) {
      const page: Page<ListedVersion> = await datasets.listVersions(dataset.id, {
        limit: VERSIONS_PER_PAGE,
        cursor,
        signal,
      });
      versions.push(...page.data);
      cursor = page.nextCursor;
    }
    return json({
      branches: [{ name: 'main', ref: 'refs/heads/main', targetCommit: commit }],
      converts: [],
      tags: versions.map(({ version, versionHash }) => {
        return { name: `v${version}`, ref: `refs/tags/v${version}`, targetCommit: commitOf(versionHash) };
      }),
      pullRequests: [],
    });
  }

  async function listCommits({ dataset }: Repository, request: RouteRequest) {
    const { query, signal } = request;
    const page = await datasets.listVersions(dataset.id, {
      limit: limitOf(query['limit'], VERSIONS_PER_PAGE),
      cursor: query['cursor'] as string | undefined,
      upTo: dataset.version,
      signal,
    });
    return json(page.data.map(serializeCommit), 200, nextPage(request, page.nextCursor));
  }
}

function serializeCommit({
  version,
  versionHash,
  message,
  author,
  source,
  createdAt,
}: ListedVersion): JsonBody {
  return {
    id: commitOf(versionHash),
    title: `Version ${version}: ${message?.split('\n')[0] ?? source}`,
    message: message ?? '',
    authors: [{ user: author ?? 'svc' }],
    date: createdAt,
  };
}

export function fileRoute(deps: RouteDeps): Route {
  return {
    ...HUB_READ,
    ...rangedRoute('the file'),
    path: '/datasets/svc/{repo}/resolve/{revision}/{+file}',
    operationId: 'downloadHubFile',
    summary: 'A file of a repository, or a range of it',
    query: {},
    errors: [...HUB_READ.errors, 'range_not_satisfiable', 'item_too_large', 'asset_missing'],
    handle: async (request) => {
      const path = request.params['file'] ?? '';
      const { repository, file } = await readRepository(deps, request, async (found) => {
        return { repository: found, file: await openFile(deps, found, path, request) };
      });
      return rangedResponse(request, {
        byteLength: file.byteLength,
        etag: `"${file.tag}"`,
        headers: { ...SAFE, 'X-Repo-Commit': repository.commit, 'Cache-Control': 'private, no-cache' },
        bodyHeaders: {
          'Content-Type': file.mediaType,
          'Content-Disposition': contentDisposition(basename(path)),
        },
        read: file.bytes,
      });
    },
  };
}

async function openFile(
  deps: RouteDeps,
  repository: Repository,
  path: string,
  { raw, signal }: RouteRequest,
) {
  const { commit } = repository;
  const isTop = TOP_FILES.includes(path);
  if (!isTop && !isFilePath(path)) throw entryNotFound(commit);
  const key = await layoutOf(deps, repository, signal);
  if (isTop) {
    const { bytes, ...file } = await makeTopFile(deps, repository, { path, key }, signal);
    return {
      ...file,
      mediaType: path === CARD ? 'text/markdown; charset=utf-8' : 'application/yaml',
      async *bytes({ start, end }: ByteRange) {
        yield bytes.subarray(start, end);
      },
    };
  }
  const [file] = await deps.files.find(key, [path], signal, raw.method === 'GET');
  if (file === undefined) throw entryNotFound(commit);
  const isLines = path.endsWith('.jsonl');
  return {
    ...file,
    mediaType: isLines ? 'application/jsonl' : 'application/vnd.apache.parquet',
    bytes: (range: ByteRange) =>
      isLines ? lineBytes(deps, key, file, range, signal) : deps.store.hubFiles.read(file.tag, range, signal),
  };
}

/** A range of the lines of a section, of the groups that it touches, in one snapshot. */
async function* lineBytes(
  { store }: RouteDeps,
  key: LayoutKey,
  file: HubFile,
  { start, end }: ByteRange,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  // Whole groups are read: what is outside of the range is left out below.
  let [at, from, to, stop] = [0, 0, 0, 0];
  for (const [index, items] of file.groupItems.entries()) {
    const bytes = file.groupBytes[index] ?? 0;
    if (stop + bytes <= start) [at, from, to] = [at + bytes, from + items, to + items];
    else if (stop < end) to += items;
    stop += bytes;
  }
  const section = (await readSections(store, key, signal)).find(({ id }) => id === file.sectionId);
  if (section === undefined || from >= to) return;
  await using open = await store.hubFiles.openLines(section, signal);
  const textOf = (line: ItemLine): Exclude<ItemLine, StoredItem> | AsyncIterable<string> =>
    typeof line === 'string' || !('payload' in line) ? line : store.assets.itemText(line, signal);
  async function* lines(): AsyncGenerator<ReturnType<typeof textOf>[]> {
    for await (const batch of open.between(from, to)) yield batch.map(textOf);
  }
  for await (const bytes of linesToBytes(lines())) {
    const piece = bytes.subarray(Math.max(0, start - at), Math.max(0, end - at));
    at += bytes.byteLength;
    if (piece.byteLength > 0) yield piece;
    // The rest of the group may embed large files.
    if (at >= end) return;
  }
}
