import { type JsonBody, json, type Route, type RouteRequest } from '@svc/service';
import type { DatasetSummary, LayoutKey, ListedHubFile } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { cardData } from './files/card.ts';
import type { MeasuredFile } from './files/hub-files.ts';
import {
  commitOf,
  layoutOf,
  makeTopFile,
  type Repository,
  readCardFacts,
  readRepository,
  repositoryName,
  TOP_FILES,
} from './repository.ts';
import { HUB_READ, isTrue, limitOf, listQuery, listResponse, nextPage, OBJECTS } from './shared.ts';

/** Files that the body lists at most, as the hub does; the tree has all. */
const MAX_SIBLINGS = 100_000;
const FILES_PER_QUERY = 10_000;

const INFO = {
  type: 'object',
  description: 'a repository at a commit',
  additionalProperties: true,
} as const;

/** `GET /api/datasets/svc/{repo}`, also at a revision. */
export function infoRoutes(deps: RouteDeps): readonly Route[] {
  const shared = {
    ...HUB_READ,
    query: { blobs: { type: 'string', description: '`true`: each file with its size' } },
    responses: { 200: { description: 'the repository', schema: INFO } },
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

async function respond(
  deps: RouteDeps,
  repository: Repository,
  { query, signal }: RouteRequest,
): Promise<ReturnType<typeof json>> {
  const { hubFiles } = deps.store;
  const key = await layoutOf(deps, repository, signal);
  const columns = await deps.files.columnsSoon(key, signal);
  const facts = await readCardFacts(deps, repository, key, columns, signal);
  const files: ListedHubFile[] = [];
  for (let isMore = true; isMore && files.length < MAX_SIBLINGS; ) {
    const page = { folder: '', after: files.at(-1)?.path ?? '', limit: FILES_PER_QUERY };
    const found = await hubFiles.list(key, page, signal);
    files.push(...found);
    isMore = found.length === FILES_PER_QUERY;
  }
  return json({
    ...repositoryInfo(repository.dataset),
    siblings: isTrue(query['blobs'])
      ? (await measure(deps, repository, key, files, signal)).map(({ path, byteLength, tag }) => {
          return { rfilename: path, size: byteLength, blobId: tag.slice(0, 40) };
        })
      : [...TOP_FILES, ...files.map(({ path }) => path)].map((path) => ({ rfilename: path })),
    cardData: cardData(facts) as JsonBody,
    // Of what was made so far.
    usedStorage: files.reduce((sum, { byteLength }) => sum + (byteLength ?? 0), 0),
  });
}

/** The files with their sizes, and those beside the folders. */
async function measure(
  deps: RouteDeps,
  repository: Repository,
  key: LayoutKey,
  files: readonly ListedHubFile[],
  signal: AbortSignal,
): Promise<readonly MeasuredFile[]> {
  const top = await Promise.all(
    TOP_FILES.map((path) => makeTopFile(deps, repository, { path, key }, signal)),
  );
  const measured = await deps.files.find(
    key,
    files.map(({ path }) => path),
    signal,
  );
  return [
    ...top.map(({ path, bytes, sha256 }) => ({ path, byteLength: bytes.byteLength, tag: sha256 })),
    ...measured,
  ];
}

/** What lists show of a repository too. */
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

/** `GET /api/whoami-v2`: whose key the request has. */
export function callerRoute(): Route {
  return {
    ...HUB_READ,
    path: '/api/whoami-v2',
    operationId: 'getHubCaller',
    summary: 'Name and role of the key; `anonymous` without configured keys',
    query: {},
    responses: { 200: { description: 'the key', schema: { type: 'object', additionalProperties: true } } },
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

/** `GET /api/datasets`: datasets as repositories. */
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
    errors: [...HUB_READ.errors, 'invalid_cursor'],
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
