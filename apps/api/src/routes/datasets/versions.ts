import { empty, json, jsonBody, type Route } from '@svc/service';
import { observeChange, requestFailure } from '@svc/service/flows';
import type { ListedVersion, RestoredDataset, StoredResponse } from '@svc/store';
import { IDEMPOTENCY_KEY, requestDigest, withIdempotency } from '../../http/request-headers.ts';
import type { RouteDeps } from '../deps.ts';
import {
  type ApiRecord,
  COUNT,
  POSITIVE,
  record,
  SHA256,
  storedJson,
  TEXT_OR_NULL,
  TIME,
} from '../docs/members.ts';
import { CHANGE, PAGE_QUERY, page } from '../docs/schemas.ts';
import { pageOf, toPage } from '../page.ts';
import {
  CHANGE_HEADERS,
  CHANGE_RESPONSES,
  changeFacts,
  datasetChanged,
  IF_MATCH,
  MESSAGE,
  MESSAGE_OR_NULL,
  readIfMatch,
} from './change.ts';
import { DATASET_READ } from './routes.ts';

/** A version in the history of a dataset. */
export const DATASET_VERSION: ApiRecord<ListedVersion> = record<ListedVersion>({
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

/** The endpoints that list, restore and delete versions of datasets. */
export function versionRoutes(deps: RouteDeps): readonly Route[] {
  return [listRoute(deps), restoreRoute(deps), deleteRoute(deps)];
}

function listRoute({ store }: RouteDeps): Route {
  return {
    ...DATASET_READ,
    path: '/datasets/{id}/versions',
    operationId: 'listVersions',
    summary: 'The history of a dataset, newest first',
    query: PAGE_QUERY,
    responses: { 200: { description: 'a page', schema: page(DATASET_VERSION.schema) } },
    handle: async ({ params, query, signal }) => {
      const id = params['id'] ?? '';
      const found = await store.datasets.listVersions(id, { ...pageOf(query), signal });
      return json(toPage(found, query, DATASET_VERSION.toBody));
    },
  };
}

function restoreRoute({ logger, metrics, store: { datasets, idempotency } }: RouteDeps): Route {
  return {
    method: 'post',
    path: '/datasets/{id}/restore',
    operationId: 'restoreVersion',
    summary: 'Make the content of an old version the newest one',
    tag: 'datasets',
    access: 'editor',
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
    produces: 'application/json',
    responses: CHANGE_RESPONSES,
    errors: [
      'dataset_not_found',
      'version_not_found',
      'ambiguous_version',
      'version_changed',
      'idempotency_key_reused',
      'unavailable',
    ],
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
  };
}

function deleteRoute({ logger, store: { datasets } }: RouteDeps): Route {
  return {
    method: 'delete',
    path: '/datasets/{id}/versions/{version}',
    operationId: 'deleteVersion',
    summary: 'Delete an old version, and permanently remove what no other version contains',
    tag: 'datasets',
    access: 'admin',
    query: { runs: { type: 'string', enum: ['delete'], description: 'delete the runs of the version too' } },
    headers: { 'If-Match': IF_MATCH },
    produces: 'application/json',
    responses: { 204: { description: 'the version is deleted' } },
    errors: [
      'dataset_not_found',
      'version_not_found',
      'ambiguous_version',
      'newest_version',
      'version_has_runs',
      'version_changed',
      'run_active',
      'unavailable',
    ],
    handle: async ({ params, query, header, signal }) => {
      const id = params['id'] ?? '';
      const ifMatch = readIfMatch(header('if-match'));
      const version = (await datasets.resolve(id, params['version'], signal)).version as number;
      await datasets.deleteVersion(id, version, { withRuns: query['runs'] === 'delete', ifMatch });
      logger.log('dataset.version.delete', { dataset_id: id, version });
      return empty(204);
    },
  };
}
