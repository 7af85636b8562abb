import { json, type Route } from '@svc/runtime';
import { repositoryInfo } from './info.ts';
import type { HubServingDeps } from './repository.ts';
import { HUB_READ, limitOf, listQuery, listResponse, nextPage, OBJECTS } from './shared.ts';

const MAX_DATASETS = 100;

/** `GET /api/datasets`: datasets as repositories. */
export function listRoute({ store: { datasets } }: Pick<HubServingDeps, 'store'>): Route {
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
