import { type JsonBody, json, type Route, type RouteRequest } from '@svc/service';
import type { ListedVersion, Page } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { commitOf, type Repository, readRepository } from './repository.ts';
import { HUB_READ, limitOf, listQuery, listResponse, nextPage, OBJECTS } from './shared.ts';

/** Versions that are tags at most: the newest ones. */
const MAX_TAGS = 10_000;
const VERSIONS_PER_PAGE = 1_000;

/** `GET …/refs` and `GET …/commits/{revision}`. */
export function historyRoutes(deps: RouteDeps): readonly Route[] {
  const { datasets } = deps.store;
  return [
    {
      ...HUB_READ,
      path: '/api/datasets/svc/{repo}/refs',
      operationId: 'listHubRefs',
      summary: 'The branch `main`, and a tag `v<version>` for each version',
      query: {},
      responses: {
        200: { description: 'branches and tags', schema: { type: 'object', additionalProperties: true } },
      },
      handle: (request) => readRepository(deps, request, (repository) => listRefs(repository, request)),
    },
    {
      ...HUB_READ,
      path: '/api/datasets/svc/{repo}/commits/{revision}',
      operationId: 'listHubCommits',
      summary: 'A commit for each version up to a revision, newest first',
      query: listQuery('commits', '1,000'),
      responses: listResponse(OBJECTS),
      errors: [...HUB_READ.errors, 'invalid_cursor'],
      handle: (request) => readRepository(deps, request, (repository) => listCommits(repository, request)),
    },
  ];

  async function listRefs(
    { dataset, commit }: Repository,
    { signal }: RouteRequest,
  ): Promise<ReturnType<typeof json>> {
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

  async function listCommits(
    { dataset }: Repository,
    request: RouteRequest,
  ): Promise<ReturnType<typeof json>> {
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
