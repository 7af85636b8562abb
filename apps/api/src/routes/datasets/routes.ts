import {
  empty,
  type JsonBody,
  json,
  jsonBody,
  ok,
  type Route,
  type RouteRequest,
  type Schema,
} from '@svc/service';
import { observeChange, requestFailure } from '@svc/service/flows';
import {
  DATASET_ORDERS,
  type DatasetChanges,
  type DatasetOrder,
  type ListedDataset,
  type ListedVersion,
  type RestoredDataset,
  type Store,
  type StoredResponse,
} from '@svc/service/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/request-headers.ts';
import type { RouteDeps } from '../deps.ts';
import {
  CHANGE,
  COUNT,
  DATASET,
  HANDLE,
  LAST_RUN,
  LISTED_DATASET,
  NAME,
  OPTIONAL_TEXT,
  PAGE_QUERY,
  POSITIVE,
  page,
  record,
  SECTION,
  SHA256,
  SUMMARY,
  storedJson,
  TEXT_OR_NULL,
  TIME,
} from '../docs/schemas.ts';
import { listed, wanted } from '../page.ts';
import {
  CHANGE_HEADERS,
  CHANGE_RESPONSES,
  changeFacts,
  DATASET_CHANGE,
  datasetChanged,
  IF_MATCH,
  MESSAGE,
  MESSAGE_OR_NULL,
  readIfMatch,
  serializeSummary,
} from './change.ts';

export const DATASET_READ = {
  method: 'get',
  tag: 'datasets',
  access: 'viewer',
  errors: ['item_too_large'],
} as const;

export function datasetRoutes({ logger, store: { datasets } }: RouteDeps): readonly Route[] {
  return [
    {
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
      responses: ok('a page', page(LISTED_DATASET)),
      handle: (request) => {
        const order = request.query['sort'] as DatasetOrder | undefined;
        return listed(request, datasets.list(wanted(request, { order })), serializeListed);
      },
    },
    {
      ...DATASET_READ,
      path: '/datasets/{id}',
      operationId: 'getDataset',
      summary: 'One dataset, or one of its versions, with its whole schema',
      query: VERSION,
      responses: ok('the dataset', DATASET),
      handle: async ({ params, query, signal }) => {
        const version = query['version'] as number | undefined;
        return json(SUMMARY.toBody(await datasets.get(params['id'] ?? '', { version, signal })));
      },
    },
    {
      ...DATASET_READ,
      path: '/datasets/{id}/sections',
      operationId: 'listSections',
      summary: 'The sections of a dataset, in order',
      query: { ...PAGE_QUERY, ...VERSION },
      responses: ok('a page', page(SECTION.schema)),
      handle: (request) => {
        const found = datasets.listSections(request.params['id'] ?? '', wanted(request));
        return listed(request, found, SECTION.toBody);
      },
    },
    {
      ...DATASET_CHANGE,
      method: 'patch',
      path: '/datasets/{id}',
      operationId: 'updateDataset',
      summary: 'Change name, handle, description or notes',
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: { name: NAME, handle: HANDLE, description: OPTIONAL_TEXT, notes: OPTIONAL_TEXT },
          additionalProperties: false,
          minProperties: 1,
        },
      },
      responses: ok('the updated dataset', DATASET),
      errors: ['handle_taken'],
      handle: async ({ params, body }) => {
        const changes = body as DatasetChanges;
        const dataset = await datasets.update(params['id'] ?? '', changes);
        logger.log('dataset.update', { dataset_id: dataset.id, changed: Object.keys(changes) });
        return json(SUMMARY.toBody(dataset));
      },
    },
    {
      method: 'delete',
      path: '/datasets/{id}',
      operationId: 'deleteDataset',
      summary: 'Delete a dataset with its sections, items and runs',
      tag: 'datasets',
      access: 'admin',
      responses: { 204: { description: 'the dataset is deleted' } },
      handle: async ({ params }) => {
        const id = params['id'] ?? '';
        await datasets.delete(id);
        logger.log('dataset.delete', { dataset_id: id });
        return empty(204);
      },
    },
  ];
}

function serializeListed({ lastRun, ...dataset }: ListedDataset): JsonBody {
  return { ...serializeSummary(dataset), last_run: lastRun === null ? null : LAST_RUN.toBody(lastRun) };
}

export const VERSION: Readonly<Record<'version', Schema>> = {
  version: {
    type: 'string',
    minLength: 1,
    maxLength: 64,
    description:
      'the version to read: its number, or at least 8 digits of its hash; by default that of the cursor, else the newest',
  },
};

const NAMES: readonly (readonly [dataset: string, version: string])[] = [
  ['id', 'version'],
  ['other_id', 'other_version'],
];

/** Lets callers name datasets by id or handle, and versions by number or hash. Handlers get ids and numbers. */
export function resolvingDatasets(route: Route, datasets: Pick<Store['datasets'], 'resolve'>): Route {
  if (!route.path.startsWith('/datasets/{id}')) return route;
  const names = NAMES.filter(([dataset]) => route.path.includes(`{${dataset}}`));
  return {
    ...route,
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

export const DATASET_VERSION = record<ListedVersion>({
  version: POSITIVE,
  version_hash: SHA256,
  item_count: COUNT,
  created_at: TIME,
  message: TEXT_OR_NULL,
  author: {
    type: ['string', 'null'],
    description: 'name of the API key, or its position in SVC_API_KEYS: `key 1`',
  },
  change: CHANGE,
  source: {
    type: 'string',
    enum: ['upload', 'hub', 'append', 'upsert', 'edit', 'restore', 'replace'],
    description: 'how the version was made',
  },
  schema: storedJson({ type: 'object', description: 'where its items come from; a large one is left out' }),
  run_count: COUNT,
});

export function versionRoutes({ logger, metrics, store }: RouteDeps): readonly Route[] {
  const { datasets, idempotency } = store;
  return [
    {
      ...DATASET_READ,
      path: '/datasets/{id}/versions',
      operationId: 'listVersions',
      summary: 'The history of a dataset, newest first',
      query: PAGE_QUERY,
      responses: ok('a page', page(DATASET_VERSION.schema)),
      handle: (request) => {
        const found = datasets.listVersions(request.params['id'] ?? '', wanted(request));
        return listed(request, found, DATASET_VERSION.toBody);
      },
    },
    {
      ...DATASET_CHANGE,
      path: '/datasets/{id}/restore',
      operationId: 'restoreVersion',
      summary: 'Make the content of an old version the newest one',
      query: { message: MESSAGE },
      headers: { 'Idempotency-Key': IDEMPOTENCY_KEY, ...CHANGE_HEADERS },
      body: jsonBody(
        {
          version: {
            type: ['integer', 'string'],
            description: 'its number, or at least 8 digits of its hash',
          },
          message: MESSAGE_OR_NULL,
        },
        ['version'],
      ),
      responses: CHANGE_RESPONSES,
      errors: ['version_not_found', 'ambiguous_version'],
      handle: async (request) => {
        const { body, params, signal } = request;
        const datasetId = params['id'] ?? '';
        const facts = changeFacts(request, body['message'] as string | null | undefined);
        const named = String(body['version']);
        const { ifMatch = null, message } = facts;
        const digest = (): Uint8Array =>
          requestDigest(`POST /datasets/${datasetId}/restore`, named, ifMatch, message);
        return await withIdempotency(request, idempotency, digest, async (claim) => {
          const version = (await datasets.resolve(datasetId, named, signal)).version as number;
          const observed = observeChange({ logger, metrics }, { datasetId, mode: 'restore' });
          const of = ({ dataset, changed }: RestoredDataset): StoredResponse =>
            datasetChanged(dataset, changed);
          try {
            const response = claim && { claim, of };
            const restored = await datasets.restore({ ...facts, datasetId, version }, response);
            observed.finished(restored.changed);
            return of(restored);
          } catch (error) {
            observed.failed(error, requestFailure(error, signal));
            throw error;
          }
        });
      },
    },
    {
      method: 'delete',
      path: '/datasets/{id}/versions/{version}',
      operationId: 'deleteVersion',
      summary: 'Delete an old version, and permanently remove what no other version contains',
      tag: 'datasets',
      access: 'admin',
      query: {
        runs: { type: 'string', enum: ['delete'], description: 'delete the runs of the version too' },
      },
      headers: { 'If-Match': IF_MATCH },
      responses: { 204: { description: 'the version is deleted' } },
      errors: ['version_not_found', 'ambiguous_version', 'newest_version', 'version_has_runs', 'run_active'],
      handle: async ({ params, query, header, signal }) => {
        const id = params['id'] ?? '';
        const ifMatch = readIfMatch(header('if-match'));
        const version = (await datasets.resolve(id, params['version'], signal)).version as number;
        await datasets.deleteVersion(id, version, { withRuns: query['runs'] === 'delete', ifMatch });
        logger.log('dataset.version.delete', { dataset_id: id, version });
        return empty(204);
      },
    },
  ];
}
