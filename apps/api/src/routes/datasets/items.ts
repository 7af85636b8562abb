import {
  filesOfPart,
  LINK_MEMBERS,
  type LinkedFile,
  replaceLinked,
  withOwnMembers,
} from '@svc/jsonl-v23/assets';
import { canonicalJson, isJsonObject, type JsonObject, parseJson } from '@svc/jsonl-v23/json';
import { encodePieces, linesToBytes } from '@svc/pkg-format';
import {
  type JsonBody,
  JsonText,
  json,
  ok,
  type Route,
  type RouteRequest,
  type RouteResponse,
  type Schema,
  stream,
  toJsonText,
  toJsonTexts,
} from '@svc/service';
import { ITEM_COLUMNS, itemsTable, linkOf, OTHER_ITEM_COLUMNS } from '@svc/service/flows';
import {
  type DiffEntry,
  type ItemLine,
  type ItemsPage,
  joinStoredItem,
  type ListedItem,
  type Store,
  type StoredItem,
  sectionNotFound,
} from '@svc/service/store';
import type { RouteDeps } from '../deps.ts';
import {
  CHANGED_ITEM,
  DIFF,
  ITEM,
  PAGE_QUERY,
  PLACED_DIFFERENCE,
  PLACED_ITEM,
  PLACED_PAGE_QUERY,
  page,
  STATED_HASH,
} from '../docs/schemas.ts';
import { ITEM_TOO_LARGE, ITEM_VALUES, itemValues, pageMeta, pageResponse, toPage, wanted } from '../page.ts';
import { tableRoute } from '../table.ts';
import { DATASET_READ, VERSION } from './routes.ts';

const ASSETS: Schema = {
  enum: ['embed', 'link'],
  type: 'string',
  default: 'embed',
  description:
    '`embed`: files as `encoding` and `data`; `link`: `{mime_type, sha256, byte_length, url}` in place of each',
};

export function itemRoutes(deps: RouteDeps): readonly Route[] {
  return [listRoute(deps), linesRoute(deps), diffRoute(deps), ...tableRoutes(deps)];
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
    responses: ok('a page', page(ITEM)),
    handle: async (request) => {
      const { params, query } = request;
      const form = query['assets'] as 'embed' | 'link';
      const from = positionOf(query['from'] as string | undefined);
      const others = { form, from, values: itemValues(query) };
      const found = await datasets.listItems(params['id'] ?? '', wanted(request, others));
      return await itemPage(assets, found, request);
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
    responses: ok('JSON Lines', { type: 'string' }),
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
    responses: ok('a page of differences, and their counts', DIFF),
    handle: async (request) => {
      const { params, query } = request;
      const from = { id: params['id'] ?? '', version: query['version'] as number | undefined };
      const to = { id: params['other_id'] ?? '', version: query['other_version'] as number | undefined };
      const found = await datasets.diff(from, to, wanted(request));
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

function tableRoutes({ store: { datasets } }: RouteDeps): readonly Route[] {
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
      errors: ['section_not_found', 'item_too_large'],
    };
  });
}

/** Characters per piece that is sent. */
const CHUNK_LENGTH = 64 * 1024;

const ASSET_MISSING = {
  code: 'asset_missing',
  message: 'A file of the item is missing in the object storage.',
} as const;

/**
 * A page of items. Files are read and sent in pieces, so that memory holds none of them whole. An item with a file that is
 * gone gets links and an error, and the others are whole.
 */
async function itemPage(
  assets: Store['assets'],
  found: ItemsPage,
  { params, query, signal }: RouteRequest,
): Promise<RouteResponse> {
  const datasetId = params['id'] ?? '';
  const version = query['version'] as number | undefined;
  const isEmbedded = (item: ListedItem): boolean =>
    query['assets'] === 'embed' && !item.isTruncated && item.linkedFiles.length > 0;
  const textOf = (item: StoredItem): JsonText =>
    new JsonText(
      item.linkedFiles.length === 0 ? joinStoredItem(item) : linkedItemText(item, datasetId, version),
    );
  const linked = (item: ListedItem): JsonBody => serializeItem(item, textOf);
  if (!found.data.some(isEmbedded)) return pageResponse(found, query, linked);

  const hashes = found.data
    .filter(isEmbedded)
    .flatMap(({ linkedFiles }) => linkedFiles.map(({ sha256 }) => sha256));
  const missing = await assets.findMissing([...new Set(hashes)], signal).catch((error: unknown) => {
    found.release();
    throw error;
  });
  async function* entry(item: ListedItem): AsyncGenerator<string> {
    const { payload } = item;
    if (payload === null || !isEmbedded(item)) yield* toJsonTexts(linked(item));
    else if (item.linkedFiles.some(({ sha256 }) => missing.has(sha256))) {
      yield toJsonText({
        ...PLACED_ITEM.toBody(item),
        item: textOf({ ...item, payload }),
        error: ASSET_MISSING,
      });
    } else {
      yield `${toJsonText(PLACED_ITEM.toBody(item)).slice(0, -1)},"item":`;
      yield* assets.itemText({ ...item, payload }, signal);
      yield '}';
    }
  }
  async function* texts(): AsyncGenerator<string> {
    let before = '{"data":[';
    for (const item of found.data) {
      yield before;
      yield* entry(item);
      before = ',';
    }
    yield `],"meta":${toJsonText(pageMeta(found, query))}}`;
  }
  return stream(toBytes(texts()), { 'Content-Type': 'application/json' }, async () => found.release());
}

/** An item without its files. One that is too large is listed with its hash and an error. */
function serializeItem(
  item: ListedItem,
  textOf: (item: StoredItem) => JsonText,
): Readonly<Record<string, JsonBody>> {
  const { payload } = item;
  if (payload === null) return { ...PLACED_ITEM.toBody(item), item: null, error: ITEM_TOO_LARGE };
  const text = textOf({ ...item, payload });
  return { ...PLACED_ITEM.toBody(item), item: text, ...(item.isTruncated ? { truncated: true } : {}) };
}

/** Texts as UTF-8. Collects short ones, and cuts long ones. */
async function* toBytes(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let waiting: string[] = [];
  let length = 0;
  for await (const text of texts) {
    waiting.push(text);
    length += text.length;
    if (length < CHUNK_LENGTH) continue;
    yield* encodePieces(waiting);
    waiting = [];
    length = 0;
  }
  yield* encodePieces(waiting);
}

/** Entries of this length are parsed to get a link; a longer one, which holds a text, gets it at its end. */
const MAX_PARSED_LENGTH = 64 * 1024;

/** The text of an item with a link in place of each file: `{mime_type, sha256, byte_length, url}` and its other keys. @param version that links name */
export function linkedItemText(item: StoredItem, datasetId: string, version: number | undefined): string {
  const urlOf = linkOf(datasetId, version);
  const link = (text: string | null, part: 'assets' | 'checker'): string | null => {
    const files = filesOfPart(item.linkedFiles, part);
    if (text === null || files.length === 0) return text;
    return replaceLinked(text, files, (file) =>
      linkedEntry(text.slice(file.start, file.end), withOwnMembers(urlOf(file), ownMembers(file))),
    );
  };
  return joinStoredItem({
    ...item,
    assets: link(item.assets, 'assets'),
    checker: link(item.checker, 'checker'),
  });
}

/** The members that an entry with its content has by the names of those of a link. */
function ownMembers({ before, after }: LinkedFile): JsonObject {
  if (![before, after].some((text) => OWN.test(text))) return {};
  const entry = parseJson(before + after, { maxDepth: Number.POSITIVE_INFINITY }) as JsonObject;
  return Object.fromEntries(Object.entries(entry).filter(([name]) => LINK_MEMBERS.has(name)));
}

const OWN = /"(?:url|sha256|byte_length)":/;

/** The entry of a file with its link, which replaces a `url` that the entry has. */
function linkedEntry(entry: string, url: string): string {
  if (entry.length > MAX_PARSED_LENGTH) return `${entry.slice(0, -1)},"url":${JSON.stringify(url)}}`;
  const members = parseJson(entry, { maxDepth: Number.POSITIVE_INFINITY });
  return isJsonObject(members) ? canonicalJson({ ...members, url }) : entry;
}
