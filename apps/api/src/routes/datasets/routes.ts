import { empty, type JsonBody, json, type Route, type RouteRequest, type Schema } from '@svc/service';
import {
  DATASET_ORDERS,
  type DatasetChanges,
  type DatasetOrder,
  type ListedDataset,
  type Store,
} from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { SHA256 } from '../docs/members.ts';
import {
  DATASET,
  HANDLE,
  LAST_RUN,
  LISTED_DATASET,
  NAME,
  OPTIONAL_TEXT,
  PAGE_QUERY,
  page,
  SECTION,
  SUMMARY,
} from '../docs/schemas.ts';
import { pageOf, toPage } from '../page.ts';
import { serializeSummary } from './change.ts';

/** What the routes that read datasets share. */
export const DATASET_READ = {
  method: 'get',
  tag: 'datasets',
  access: 'viewer',
  produces: 'application/json',
  errors: ['dataset_not_found', 'invalid_cursor', 'item_too_large', 'unavailable'],
} as const;

/** The endpoints that list, get, change and delete stored datasets. */
export function datasetRoutes(deps: RouteDeps): readonly Route[] {
  return [
    listRoute(deps),
    {
      ...DATASET_READ,
      path: '/datasets/{id}',
      operationId: 'getDataset',
      summary: 'One dataset, or one of its versions, with its whole schema',
      query: VERSION,
      responses: { 200: { description: 'the dataset', schema: DATASET } },
      handle: async ({ params, query, signal }) => {
        const version = query['version'] as number | undefined;
        return json(SUMMARY.toBody(await deps.store.datasets.get(params['id'] ?? '', { version, signal })));
      },
    },
    {
      ...DATASET_READ,
      path: '/datasets/{id}/sections',
      operationId: 'listSections',
      summary: 'The sections of a dataset, in order',
      query: { ...PAGE_QUERY, ...VERSION },
      responses: { 200: { description: 'a page', schema: page(SECTION.schema) } },
      handle: async ({ params, query, signal }) => {
        const id = params['id'] ?? '';
        const sections = await deps.store.datasets.listSections(id, {
          ...pageOf(query),
          version: query['version'] as number | undefined,
          signal,
        });
        return json(toPage(sections, query, SECTION.toBody));
      },
    },
    updateRoute(deps),
    deleteRoute(deps),
  ];
}

function listRoute({ store: { datasets } }: RouteDeps): Route {
  return {
    ...DATASET_READ,
    path: '/datasets',
    operationId: 'listDatasets',
    summary: 'Datasets, newest first',
    query: {
      ...PAGE_QUERY,
      name: { type: 'string', description: 'exactly this name' },
      q: { type: 'string', description: 'part of the name, description or handle, in any case, or the id' },
      source: { enum: ['hub', 'pkg_zip', 'file'], type: 'string' },
      version_hash: SHA256,
      sort: { type: 'string', enum: DATASET_ORDERS, description: 'by default `-created`: newest first' },
    },
    responses: { 200: { description: 'a page', schema: page(LISTED_DATASET) } },
    handle: async ({ query, signal }) => {
      const found = await datasets.list({
        ...pageOf(query),
        signal,
        name: query['name'] as string | undefined,
        q: query['q'] as string | undefined,
        source: query['source'] as 'hub' | 'pkg_zip' | 'file' | undefined,
        versionHash: query['version_hash'] as string | undefined,
        order: query['sort'] as DatasetOrder | undefined,
      });
      return json(toPage(found, query, serializeListed));
    },
  };
}

function serializeListed({ lastRun, ...dataset }: ListedDataset): JsonBody {
  return { ...serializeSummary(dataset), last_run: lastRun === null ? null : LAST_RUN.toBody(lastRun) };
}

function updateRoute({ logger, store: { datasets } }: RouteDeps): Route {
  return {
    method: 'patch',
    path: '/datasets/{id}',
    operationId: 'updateDataset',
    summary: 'Change name, handle, description or notes',
    tag: 'datasets',
    access: 'editor',
    body: {
      contentType: 'application/json',
      schema: {
        type: 'object',
        properties: { name: NAME, handle: HANDLE, description: OPTIONAL_TEXT, notes: OPTIONAL_TEXT },
        additionalProperties: false,
        minProperties: 1,
      },
    },
    produces: 'application/json',
    responses: { 200: { description: 'the updated dataset', schema: DATASET } },
    errors: ['dataset_not_found', 'handle_taken', 'unavailable'],
    handle: async ({ params, body }) => {
      const changes = body as DatasetChanges;
      const dataset = await datasets.update(params['id'] ?? '', changes);
      logger.log('dataset.update', { dataset_id: dataset.id, changed: Object.keys(changes) });
      return json(SUMMARY.toBody(dataset));
    },
  };
}

function deleteRoute({ logger, store: { datasets } }: RouteDeps): Route {
  return {
    method: 'delete',
    path: '/datasets/{id}',
    operationId: 'deleteDataset',
    summary: 'Delete a dataset with its sections, items and runs',
    tag: 'datasets',
    access: 'admin',
    produces: 'application/json',
    responses: { 204: { description: 'the dataset is deleted' } },
    errors: ['dataset_not_found', 'unavailable'],
    handle: async ({ params }) => {
      const id = params['id'] ?? '';
      await datasets.delete(id);
      logger.log('dataset.delete', { dataset_id: id });
      return empty(204);
    },
  };
}

/** The query of routes that read a version of a dataset. */
export const VERSION: Readonly<Record<'version', Schema>> = {
  version: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description:
      'the version to read: its number, or at least 8 digits of its hash; by default that of the cursor, else the newest',
  },
};

/** Parameters of paths that name datasets, and those of queries that name their versions. */
const NAMES: readonly (readonly [dataset: string, version: string])[] = [
  ['id', 'version'],
  ['other_id', 'other_version'],
];

/**
 * Lets callers name the datasets of a path by id or handle, and their versions by number or hash. Its handler gets ids, and
 * the numbers of versions.
 */
export function resolvingDatasets(route: Route, datasets: Pick<Store['datasets'], 'resolve'>): Route {
  if (!route.path.startsWith('/datasets/{id}')) return route;
  const names = NAMES.filter(([dataset]) => route.path.includes(`{${dataset}}`));
  const errors = route.query?.['version'] === undefined ? [] : ['version_not_found', 'ambiguous_version'];
  return {
    ...route,
    errors: [...route.errors, ...errors],
    async handle(request) {
      const params: Record<string, string> = { ...request.params };
      const query: Record<string, RouteRequest['query'][string]> = { ...request.query };
      for (const [dataset, version] of names) {
        const named = query[version] as string | undefined;
        const found = await datasets.resolve(params[dataset] ?? '', named, request.signal);
        params[dataset] = found.id;
        query[version] = found.version ?? undefined;
      }
      return await route.handle({ ...request, params, query });
    },
  };
}
