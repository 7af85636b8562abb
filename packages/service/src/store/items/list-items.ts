import { readLinkedFiles } from '../assets/linked-files-column.ts';
import type { StoreContext } from '../context.ts';
import { nothingToRead } from '../database/dataset-row.ts';
import { StoreError } from '../database/errors.ts';
import {
  cursorAfter,
  decodeCursor,
  type HeldPage,
  holdPage,
  type Page,
  Parameters,
  type PlacedPageRequest,
  versionOfCursor,
} from '../database/page.ts';
import { insideJsonString, searchableText } from '../database/values.ts';
import { createReadQuery, type ReadQuery } from '../postgres/read-query.ts';
import type { ItemRow } from './decode-rows.ts';
import {
  allItems,
  type ItemCondition,
  itemFilter,
  matchingItems,
  type PagePosition,
} from './find-items-sql.ts';
import { divideByBlocks, foundByHash } from './hash-blocks.ts';
import { itemsInRanges, ofVersion, readRanges } from './item-ranges.ts';
import { type ItemCandidate, planItems, readPlannedItems, readSizedItems } from './read-item-texts.ts';

export interface ListedItem extends ItemRow {
  readonly section: string;
  readonly isTruncated: boolean;
}

export interface StoredItem extends ItemRow {
  readonly section: string;
  readonly payload: string;
}

export interface ItemsRequest extends PlacedPageRequest, ItemCondition {
  /** By default the newest. */
  readonly version?: number | undefined;
  readonly section?: string | undefined;
  /** Orders of the section and of the item to begin with; without a cursor. */
  readonly from?: readonly [section: number, item: number] | undefined;
  /** Whether files are sent with the items, the default, or links: the size of a page depends on it. */
  readonly form?: 'embed' | 'link' | undefined;
}

export interface ItemsPage extends Page<ListedItem>, HeldPage {}

/**
 * Items in section and item order, as canonical texts. A page ends early when its items are large: it has at most 8 MiB, or one
 * item. An item that is larger than one may be comes without its parts.
 *
 * @throws StoreError `dataset_not_found`, `invalid_cursor`, `section_not_found`, `type_not_found`
 */
export async function listItems(
  context: StoreContext,
  id: string,
  request: ItemsRequest,
): Promise<ItemsPage> {
  const { limit, signal } = request;
  const query = createReadQuery(context.pool, signal);
  const { rows, wanted } = await findPage(query, context, id, request);
  const [first] = rows;
  if (first === undefined) throw await nothingToRead(query, id, wanted);
  const totalItems = Number(first.total ?? 0);
  if (totalItems === 0) await checkFilters(query, id, request);
  const found = rows.filter((row): row is FoundItem => row.partId !== null);
  const items = await readSizedItems(query, found);
  const candidates = found.flatMap(({ section, sectionOrderIndex, orderIndex }, index) => {
    const stored = items[index];
    // Omit an item that was deleted with its dataset in the meantime.
    return stored == null ? [] : [{ section, sectionOrderIndex, orderIndex, ...stored }];
  });
  const plan = planItems(candidates.slice(0, limit), context, request.form ?? 'embed');
  return await holdPage(context.largePages, plan.unreadBytes, signal, async () => ({
    data: (await readPlannedItems(query, plan)).map(toListedItem),
    nextCursor: cursorAfter(`items ${id}`, plan.items, candidates.length > plan.items.length, ({ item }) => [
      ...[first.version, item.sectionOrderIndex, item.orderIndex],
    ]),
    totalItems,
  }));
}

interface ListedCandidate extends ItemCandidate {
  readonly sectionOrderIndex: number;
  readonly itemHash: Uint8Array;
}

export function toListedItem(item: ListedCandidate & { readonly isTruncated: boolean }): ListedItem {
  const { section, sectionOrderIndex, orderIndex, itemHash, payload, answer, checker, assets } = item;
  return {
    ...{ section, sectionOrderIndex, orderIndex, itemHash, payload, answer, checker, assets },
    linkedFiles: readLinkedFiles(item.linkedFiles),
    isTruncated: item.isTruncated,
  };
}

interface FoundPage {
  readonly total: string | null;
  readonly version: number;
}

interface FoundItem extends FoundPage {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  readonly partId: string;
  readonly ordinal: number;
}

async function findPage(
  query: ReadQuery,
  { searches, maxItemBytes }: Pick<StoreContext, 'searches' | 'maxItemBytes'>,
  id: string,
  request: ItemsRequest,
) {
  type Row = FoundItem | (FoundPage & { readonly partId: null });
  const { limit, cursor, from, offset = 0, itemHash, signal } = request;
  const section = request.section === undefined ? undefined : searchableText(request.section);
  const [firstSection, firstItem] = from ?? [-1, 0];
  const [afterVersion, afterSection, afterItem] =
    cursor === undefined
      ? [null, firstSection, firstItem - 1]
      : decodeCursor(`items ${id}`, ['index', 'index', 'index'], cursor);
  const version = versionOfCursor(cursor, afterVersion, request.version);

  const parameters = new Parameters([id, version]);
  const { add, values } = parameters;
  const position: PagePosition = {
    afterSection: add(afterSection),
    afterItem: add(afterItem),
    offset: add(cursor === undefined ? offset : 0),
    limit: add(limit + 1),
  };
  const ofItem = itemFilter(request, maxItemBytes, add);
  if (ofItem === '') {
    const ofSection = section === undefined ? '' : `AND s.name = ${add(section)}`;
    const name = section === undefined ? 'page_of_version' : 'page_of_section';
    return { rows: await query<Row>(allItems(ofSection, position), values, name), wanted: version };
  }
  using _permit = await searches.acquire(signal);
  const ranges = await readRanges(query, { datasetId: id, version, section });
  const matching =
    itemHash === undefined
      ? itemsInRanges(ranges, parameters, ofItem)
      : foundByHash(itemHash, ofItem, await divideByBlocks(query, ranges), parameters);
  return { rows: await query<Row>(matchingItems(matching, position), values), wanted: version };
}

const DEFINED_TYPES: ReadonlySet<string> = new Set([
  'freeform',
  'multiple_choice',
  'exact',
  'numeric',
  'code',
]);

const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 99)}…` : name);

export function sectionNotFound(name: string): StoreError {
  return new StoreError('section_not_found', `The dataset has no section ${shown(name)}.`);
}

/** Tells a list that its filters leave empty from one whose filters name a section or type that does not exist. */
async function checkFilters(
  query: ReadQuery,
  id: string,
  { version, section, type }: Pick<ItemsRequest, 'version' | 'section' | 'type'>,
): Promise<void> {
  if (section !== undefined) {
    const [found] = await query(
      `SELECT 1 FROM version_sections s WHERE ${ofVersion('$1', '$2')} AND s.name = $3 LIMIT 1`,
      [id, version ?? null, searchableText(section)],
    );
    if (found === undefined) throw sectionNotFound(section);
  }
  if (type !== undefined && !DEFINED_TYPES.has(type)) {
    const parameters = new Parameters([insideJsonString(type)]);
    const ranges = await readRanges(query, { datasetId: id, version });
    const [found] = await query(
      `SELECT 1 FROM ${itemsInRanges(ranges, parameters, 'AND i.type = $1')} AS found LIMIT 1`,
      parameters.values,
    );
    if (found !== undefined) return;
    const defined = [...DEFINED_TYPES].join(', ');
    throw new StoreError(
      'type_not_found',
      `The dataset has no item of type ${shown(type)}; the format defines ${defined}.`,
    );
  }
}
