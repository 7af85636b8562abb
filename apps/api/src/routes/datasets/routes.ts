import type { Logger } from '@svc/observability';
import { linesToBytes } from '@svc/pkg-format/internal';
import { empty, type JsonBody, JsonText, json, type Route, stream } from '@svc/runtime';
import { type ItemPosition, joinStoredItem, type ListedItem, type Store } from '@svc/store';
import { DATASET, DATASET_SUMMARY, DIFF, ITEM, PAGE_QUERY, page, SECTION } from '../docs/schemas.ts';
import { definedOf, ITEM_TOO_LARGE, pageOf, pageResponse, toPage } from '../page-body.ts';
import { datasetBody, sectionBody, serializeSummary } from './dataset-body.ts';
import { NAME, OPTIONAL_TEXT } from './dataset-fields.ts';

export interface DatasetDeps {
  readonly logger: Logger;
  readonly store: Pick<Store, 'datasets'>;
}

type DatasetRead = Omit<Route, 'method' | 'tag' | 'access' | 'errors' | 'produces'> &
  Partial<Pick<Route, 'produces'>>;

/** The endpoints that list, show, change and delete stored datasets. */
export function datasetRoutes({ logger, store }: DatasetDeps): readonly Route[] {
  const { datasets } = store;

  const list: DatasetRead = {
    path: '/datasets',
    operationId: 'listDatasets',
    summary: 'Datasets, newest first',
    query: {
      ...PAGE_QUERY,
      name: { type: 'string', description: 'exactly this name' },
      q: { type: 'string', description: 'part of the name or description, in any case' },
      source: { enum: ['hub', 'pkg_zip'], type: 'string' },
      version_hash: { type: 'string', pattern: '^[0-9a-f]{64}$' },
    },
    responses: { 200: { description: 'a page', schema: page(DATASET_SUMMARY) } },
    handle: async ({ query, signal }) => {
      const found = await datasets.list({
        ...pageOf(query),
        signal,
        ...definedOf({
          name: query['name'] as string | undefined,
          q: query['q'] as string | undefined,
          source: query['source'] as 'hub' | 'pkg_zip' | undefined,
          versionHash: query['version_hash'] as string | undefined,
        }),
      });
      return json(toPage(found, query, serializeSummary));
    },
  };

  const get: DatasetRead = {
    path: '/datasets/{id}',
    operationId: 'getDataset',
    summary: 'One dataset, its schema whole',
    responses: { 200: { description: 'the dataset', schema: DATASET } },
    handle: async ({ params, signal }) => json(datasetBody(await datasets.get(params['id'] ?? '', signal))),
  };

  const sections: DatasetRead = {
    path: '/datasets/{id}/sections',
    operationId: 'listSections',
    summary: 'The sections of a dataset, in order',
    query: PAGE_QUERY,
    responses: { 200: { description: 'a page', schema: page(SECTION) } },
    handle: async ({ params, query, signal }) => {
      const found = await datasets.listSections(params['id'] ?? '', { ...pageOf(query), signal });
      return json(toPage(found, query, sectionBody));
    },
  };

  const items: DatasetRead = {
    path: '/datasets/{id}/items',
    operationId: 'listItems',
    summary:
      'Items in section and item order, whole and with every digit as stored; a page has 16 MiB or one item at most',
    query: {
      ...PAGE_QUERY,
      section: { type: 'string', description: 'the section of this name' },
      type: { type: 'string', description: 'items of this type' },
      q: { type: 'string', description: 'part of the item’s text, in any case' },
    },
    responses: { 200: { description: 'a page', schema: page(ITEM) } },
    handle: async ({ params, query, signal }) => {
      const found = await datasets.listItems(params['id'] ?? '', {
        ...pageOf(query),
        signal,
        ...definedOf({
          section: query['section'] as string | undefined,
          type: query['type'] as string | undefined,
          q: query['q'] as string | undefined,
        }),
      });
      return pageResponse(found, query, itemBody);
    },
  };

  const lines: DatasetRead = {
    path: '/datasets/{id}/items.jsonl',
    operationId: 'streamItems',
    summary: 'Every item, one canonical line each',
    query: { section: { type: 'string', description: 'only the section of this name' } },
    produces: 'application/jsonl',
    streams: 'data',
    responses: { 200: { description: 'JSON Lines', schema: { type: 'string' } } },
    handle: async ({ params, query, signal }) => {
      const section = query['section'] as string | undefined;
      const open = await datasets.open(params['id'] ?? '', { signal });
      const wanted = open.sections.filter(({ name }) => section === undefined || name === section);
      async function* items(): AsyncGenerator<string[]> {
        for await (const batch of open.items(wanted)) yield batch.map(joinStoredItem);
      }
      return stream(linesToBytes(items()), { 'Content-Type': 'application/jsonl' }, () =>
        open[Symbol.asyncDispose](),
      );
    },
  };

  const diff: DatasetRead = {
    path: '/datasets/{id}/diff/{other_id}',
    operationId: 'diffDatasets',
    summary: 'What the other dataset adds, removes and moves, by item hash',
    query: { ...PAGE_QUERY, change: { enum: ['added', 'removed', 'moved'], type: 'string' } },
    responses: { 200: { description: 'a page of changes, and their counts', schema: DIFF } },
    handle: async ({ params, query, signal }) => {
      const change = query['change'] as 'added' | 'removed' | 'moved' | undefined;
      const found = await datasets.diff(params['id'] ?? '', params['other_id'] ?? '', {
        ...pageOf(query),
        signal,
        ...definedOf({ change }),
      });
      const page = toPage(found, query, (entry) => {
        return {
          change: entry.change,
          item_hash: Buffer.from(entry.itemHash).toString('hex'),
          from: positionBody(entry.from),
          to: positionBody(entry.to),
        };
      });
      return json({ ...page, counts: { ...found.counts } });
    },
  };

  const reads = [list, get, sections, items, lines, diff].map((route): Route => {
    return {
      produces: 'application/json',
      ...route,
      method: 'get',
      tag: 'datasets',
      access: 'viewer',
      errors: ['dataset_not_found', 'invalid_cursor', 'item_too_large', 'unavailable'],
    };
  });

  return [
    ...reads,
    {
      method: 'patch',
      path: '/datasets/{id}',
      operationId: 'updateDataset',
      summary: 'Change name, description or notes',
      tag: 'datasets',
      access: 'editor',
      body: {
        contentType: 'application/json',
        schema: {
          type: 'object',
          properties: { name: NAME, description: OPTIONAL_TEXT, notes: OPTIONAL_TEXT },
          additionalProperties: false,
          minProperties: 1,
        },
      },
      produces: 'application/json',
      responses: { 200: { description: 'the dataset as it is now', schema: DATASET } },
      errors: [
        'dataset_not_found',
        'invalid_json',
        'body_too_large',
        'unsupported_media_type',
        'unavailable',
      ],
      handle: async ({ params, body }) => {
        const changes = body as { name?: string; description?: string | null; notes?: string | null };
        const dataset = await datasets.update(params['id'] ?? '', changes);
        logger.log('dataset.update', { dataset_id: dataset.id, changed: Object.keys(changes) });
        return json(datasetBody(dataset));
      },
    },
    {
      method: 'delete',
      path: '/datasets/{id}',
      operationId: 'deleteDataset',
      summary: 'Delete a dataset with its sections, items and runs',
      tag: 'datasets',
      access: 'admin',
      produces: 'application/json',
      responses: { 204: { description: 'it is gone' } },
      errors: ['dataset_not_found', 'unavailable'],
      handle: async ({ params }) => {
        const id = params['id'] ?? '';
        await datasets.delete(id);
        logger.log('dataset.delete', { dataset_id: id });
        return empty(204);
      },
    },
  ];
}

/** An item of a list: one that is larger than an item may be is there, with its hash, and says so. */
function itemBody({ payload, ...item }: ListedItem): JsonBody {
  const location = {
    section: item.section,
    order_index: item.orderIndex,
    item_hash: Buffer.from(item.itemHash).toString('hex'),
  };
  return payload === null
    ? { ...location, item: null, error: ITEM_TOO_LARGE }
    : { ...location, item: new JsonText(joinStoredItem({ ...item, payload })) };
}

function positionBody(position: ItemPosition | null): JsonBody {
  return position === null ? null : { section: position.section, order_index: position.orderIndex };
}
