import { linesToBytes } from '@svc/pkg-format/internal';
import { type JsonBody, json, type Route, type Schema, stream } from '@svc/service';
import { ITEM_COLUMNS, itemsTable, OTHER_ITEM_COLUMNS } from '@svc/service/flows';
import { type DiffEntry, type ItemChange, type ItemLine, type StoredItem, sectionNotFound } from '@svc/store';
import type { RouteDeps } from '../deps.ts';
import { STATED_HASH } from '../docs/members.ts';
import {
  CHANGED_ITEM,
  DIFF,
  ITEM,
  PAGE_QUERY,
  PLACED_DIFFERENCE,
  PLACED_PAGE_QUERY,
  page,
} from '../docs/schemas.ts';
import { ITEM_VALUES, itemValues } from '../item-values.ts';
import { pageOf, toPage } from '../page.ts';
import { tableRoute } from '../table.ts';
import { itemPage, linkedItemText } from './item-page.ts';
import { DATASET_READ, VERSION } from './routes.ts';

type AssetForm = 'embed' | 'link';

const ASSETS: Schema = {
  enum: ['embed', 'link'],
  type: 'string',
  default: 'embed',
  description:
    '`embed`: files as `encoding` and `data`; `link`: `{mime_type, sha256, byte_length, url}` in place of each',
};

/** The endpoints that read the items of datasets: as pages, as JSON Lines, and as a diff of two datasets. */
export function itemRoutes(deps: RouteDeps): readonly Route[] {
  return [listRoute(deps), linesRoute(deps), diffRoute(deps)];
}

function listRoute({ store }: RouteDeps): Route {
  const { datasets, assets } = store;
  return {
    ...DATASET_READ,
    path: '/datasets/{id}/items',
    operationId: 'listItems',
    summary:
      'Items in section and item order, whole and with every digit as stored; a page has at most 8 MiB or one item',
    query: {
      ...PLACED_PAGE_QUERY,
      ...VERSION,
      section: { type: 'string', description: 'items of this section' },
      type: { type: 'string', description: 'items of this type' },
      tag: { type: 'string', description: 'items with this tag' },
      item_id: { type: 'string', description: 'items with this `id`' },
      item_hash: STATED_HASH,
      from: {
        type: 'string',
        pattern: '^[0-9]{1,9}-[0-9]{1,9}$',
        'x-rule': 'must be a position such as 0-12',
        description: 'start at this position, `<section order>-<item order>`; not with a cursor',
      },
      ...ITEM_VALUES,
      q: { type: 'string', description: 'part of the item’s text, case-insensitive' },
      assets: ASSETS,
    },
    responses: { 200: { description: 'a page', schema: page(ITEM) } },
    handle: async ({ params, query, signal }) => {
      const datasetId = params['id'] ?? '';
      const version = query['version'] as number | undefined;
      const form = query['assets'] as AssetForm;
      const found = await datasets.listItems(datasetId, {
        ...pageOf(query),
        signal,
        form,
        version,
        section: query['section'] as string | undefined,
        type: query['type'] as string | undefined,
        tag: query['tag'] as string | undefined,
        itemId: query['item_id'] as string | undefined,
        itemHash: query['item_hash'] as string | undefined,
        from: positionOf(query['from'] as string | undefined),
        q: query['q'] as string | undefined,
        values: itemValues(query),
      });
      return await itemPage(assets, found, { datasetId, version, form, query, signal });
    },
  };
}

function positionOf(from: string | undefined): readonly [section: number, item: number] | undefined {
  if (from === undefined) return undefined;
  const [section = 0, item = 0] = from.split('-').map(Number);
  return [section, item];
}

function linesRoute({ store }: RouteDeps): Route {
  const { datasets, assets } = store;
  return {
    ...DATASET_READ,
    path: '/datasets/{id}/items.jsonl',
    operationId: 'streamItems',
    summary: 'Every item, one canonical line each',
    query: {
      ...VERSION,
      section: { type: 'string', description: 'items of this section only' },
      assets: ASSETS,
    },
    produces: 'application/jsonl',
    streams: 'data',
    responses: { 200: { description: 'JSON Lines', schema: { type: 'string' } } },
    handle: async ({ params, query, signal }) => {
      const datasetId = params['id'] ?? '';
      const section = query['section'] as string | undefined;
      const version = query['version'] as number | undefined;
      const open = await datasets.open(datasetId, { version, signal });
      const sections = open.sections.filter(({ name }) => section === undefined || name === section);
      if (section !== undefined && sections.length === 0) {
        await open[Symbol.asyncDispose]();
        throw sectionNotFound(section);
      }
      const lineOf = (line: ItemLine): Exclude<ItemLine, StoredItem> | AsyncIterable<string> => {
        if (typeof line === 'string' || !('payload' in line)) return line;
        return query['assets'] === 'link'
          ? linkedItemText(line, datasetId, version)
          : assets.itemText(line, signal);
      };
      async function* lines(): AsyncGenerator<ReturnType<typeof lineOf>[]> {
        for await (const batch of open.lines(sections)) yield batch.map(lineOf);
      }
      return stream(linesToBytes(lines()), { 'Content-Type': 'application/jsonl' }, () =>
        open[Symbol.asyncDispose](),
      );
    },
  };
}

function diffRoute({ store }: RouteDeps): Route {
  const { datasets } = store;
  return {
    ...DATASET_READ,
    path: '/datasets/{id}/diff/{other_id}',
    operationId: 'diffDatasets',
    summary: 'Compare with another dataset or version: items that it adds, removes and changes',
    query: {
      ...PAGE_QUERY,
      ...VERSION,
      other_version: {
        ...VERSION.version,
        description: 'the version of the other dataset, in the same form',
      },
      only: {
        enum: ['added', 'removed', 'changed'],
        type: 'string',
        description: 'list only differences of this kind; `counts` still has all of them',
      },
    },
    responses: { 200: { description: 'a page of differences, and their counts', schema: DIFF } },
    handle: async ({ params, query, signal }) => {
      const from = { id: params['id'] ?? '', version: query['version'] as number | undefined };
      const to = { id: params['other_id'] ?? '', version: query['other_version'] as number | undefined };
      const only = query['only'] as ItemChange | undefined;
      const found = await datasets.diff(from, to, { ...pageOf(query), signal, only });
      return json({
        ...toPage(found, query, serializeDifference),
        counts: { ...found.counts },
        sections: found.sections.map(({ name, isOrderChanged }) => ({ name, order_changed: isOrderChanged })),
      });
    },
  };
}

const serializeDifference = (entry: DiffEntry): JsonBody =>
  entry.change === 'changed' ? CHANGED_ITEM.toBody(entry) : PLACED_DIFFERENCE.toBody(entry);

/** `GET /datasets/{id}/items.csv` and `items.parquet`: the items of a dataset as tables. */
export function itemTableRoutes({ store: { datasets } }: RouteDeps): readonly Route[] {
  return (['csv', 'parquet'] as const).map((format) => {
    const table = tableRoute(format, {
      columns: ITEM_COLUMNS,
      others: OTHER_ITEM_COLUMNS,
      open: async ({ params, query, signal }) => {
        const version = query['version'] as number | undefined;
        return await datasets.open(params['id'] ?? '', { version, signal });
      },
      table: (open, choice, { query }) =>
        itemsTable(open, { format, ...choice, section: query['section'] as string | undefined }),
    });
    return {
      ...DATASET_READ,
      ...table,
      path: `/datasets/{id}/items.${format}`,
      operationId: format === 'csv' ? 'downloadItemsCsv' : 'downloadItemsParquet',
      summary: 'Every item as a row; a value that is not a scalar is JSON text',
      query: {
        ...table.query,
        ...VERSION,
        section: { type: 'string', description: 'items of this section only' },
      },
      errors: ['dataset_not_found', 'section_not_found', 'item_too_large', 'unavailable'],
    };
  });
}
