import { type JsonBody, json, type Route, type RouteRequest } from '@svc/runtime';
import type { DatasetSummary } from '@svc/store';
import { cardData } from './files/card.ts';
import {
  CARD,
  commitOf,
  type HubServingDeps,
  layoutOf,
  makeCard,
  type Repository,
  readRepository,
  repositoryName,
} from './repository.ts';
import { HUB_READ, isTrue } from './shared.ts';

/** Files that the body lists at most, as the hub does; the tree has all. */
const MAX_SIBLINGS = 100_000;
const FILES_PER_QUERY = 10_000;

const INFO = {
  type: 'object',
  description: 'a repository at a commit',
  additionalProperties: true,
} as const;

/** `GET /api/datasets/svc/{repo}`, also at a revision. */
export function infoRoutes(deps: HubServingDeps): readonly Route[] {
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
  deps: HubServingDeps,
  repository: Repository,
  { query, signal }: RouteRequest,
): Promise<ReturnType<typeof json>> {
  const layout = await layoutOf(deps, repository, signal);
  const card = await makeCard(deps, repository, layout, signal);
  const files = [{ path: CARD, byteLength: card.bytes.byteLength, sha256: card.sha256 }];
  for (let isMore = true; isMore && files.length < MAX_SIBLINGS; ) {
    const after = files.length === 1 ? '' : (files.at(-1)?.path ?? '');
    const page = { folder: '', after, limit: FILES_PER_QUERY };
    const found = await deps.store.hubFiles.list(layout.key, page, signal);
    files.push(...found);
    isMore = found.length === FILES_PER_QUERY;
  }
  const withBlobs = isTrue(query['blobs']);
  return json({
    ...repositoryInfo(repository.dataset),
    siblings: files.map(({ path, byteLength, sha256 }) => {
      return { rfilename: path, ...(withBlobs ? { size: byteLength, blobId: sha256.slice(0, 40) } : {}) };
    }),
    cardData: cardData(card.facts) as JsonBody,
    usedStorage: files.reduce((sum, { byteLength }) => sum + byteLength, 0),
  });
}

/** What lists show of a repository too. */
export function repositoryInfo(dataset: DatasetSummary): { readonly [key: string]: JsonBody } {
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
