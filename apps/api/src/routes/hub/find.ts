import type { HubClient } from '@svc/hub-client';
import { invalidMember, json, type Route, shape } from '@svc/runtime';
import { COUNT_OR_NULL, TEXT } from '../docs/scalars.ts';
import { HUB_ERRORS } from './schema.ts';

const DEFAULT_LIMIT = 20;

/** `GET /hub/datasets` */
export function findHubDatasetsRoute({ hub }: { readonly hub: Pick<HubClient, 'findDatasets'> }): Route {
  return {
    method: 'get',
    path: '/hub/datasets',
    operationId: 'findHubDatasets',
    summary: 'Search datasets of the hub by name, the most downloaded first',
    tag: 'hub',
    access: 'editor',
    query: {
      q: { type: 'string', minLength: 1, maxLength: 200, description: 'part of the name' },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: DEFAULT_LIMIT },
    },
    produces: 'application/json',
    responses: {
      200: {
        description: 'what the hub finds, with the token of the service',
        schema: shape({
          data: {
            type: 'array',
            items: shape({
              id: TEXT,
              downloads: COUNT_OR_NULL,
              likes: COUNT_OR_NULL,
              gated: {
                type: 'boolean',
                description: 'whether its files need a token that was granted access',
              },
            }),
          },
        }),
      },
    },
    errors: HUB_ERRORS,
    handle: async ({ query, signal }) => {
      if (query['q'] === undefined) throw invalidMember('query', 'q', 'must be present');
      const found = await hub.findDatasets(String(query['q']), {
        limit: Number(query['limit'] ?? DEFAULT_LIMIT),
        signal,
      });
      return json({
        data: found.map(({ id, downloads, likes, isGated }) => ({ id, downloads, likes, gated: isGated })),
      });
    },
  };
}
