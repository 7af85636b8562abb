import type { ResponseOf } from '@svc/client';
import { getMember, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { get } from '../../api/api.ts';
import { leavesOf, objectIn, valueAt, withValueAt } from '../../ui/pointer-of.ts';
import { metaQuery } from '../../ui/search-params.ts';
import { plainText } from '../../ui/text/formats.ts';
import { useWindows } from '../../ui/use-windows.ts';
import { type DatasetSearch, isItemHash } from '../dataset-search.ts';
import { thumbnailOf } from './asset-list.tsx';
import { assetsOf, inputOf, questionOf, tagsOf } from './item-reading.ts';

export type ListedItem = ResponseOf<'/datasets/{id}/items', 'get'>['data'][number];
export type Dataset = ResponseOf<'/datasets/{id}', 'get'>;

/** A version of a dataset: what is read of it stays the same while the dataset changes. */
export interface VersionOf extends Pick<Dataset, 'id'> {
  /** Number or beginning of a hash. */
  readonly version: number | string;
}

/** What the list keeps of an item. The whole item is read when it is opened. */
export type ItemSummary = ReturnType<typeof summaryOf>;

/** Reads one whole item, its files as links, by its position, `<section order>-<item order>`, or by its hash. */
export async function readItem({ id, version }: VersionOf, item: string, signal: AbortSignal | undefined) {
  const place = isItemHash(item) ? { item_hash: item } : { from: item };
  const query = { ...place, limit: 1, assets: 'link' as const, version: String(version) };
  const { data } = await get('/datasets/{id}/items', { path: { id }, query }, signal);
  return data[0] ?? null;
}

/** The position of an item in a dataset, `<section order>-<item order>`; undefined beyond the sections that are listed. */
export function positionIn(
  { sections }: Pick<Dataset, 'sections'>,
  { section, order_index }: Pick<ListedItem, 'section' | 'order_index'>,
): string | undefined {
  const found = sections.find(({ name }) => name === section);
  return found && `${found.order_index}-${order_index}`;
}

export function summaryOf(listed: ListedItem, datasetId: string) {
  const { section, order_index, item_hash, item, error } = listed;
  const whole = (item ?? {}) as JsonObject;
  return {
    section,
    orderIndex: order_index,
    hash: item_hash,
    id: plainText(getMember(whole, 'id'), 60),
    type: plainText(getMember(whole, 'type'), 40) || 'freeform',
    question: item === null ? (error?.message ?? 'Too large to be listed') : questionOf(whole),
    thumbnail: thumbnailOf(assetsOf(whole), datasetId),
    tags: tagsOf(whole).slice(0, 5),
    ...valuesOf(whole),
  };
}

const MAX_META = 100;

function valuesOf(item: JsonObject) {
  const meta = leavesOf(objectIn(item, 'meta')).slice(0, MAX_META);
  const values: readonly (readonly [string, JsonValue | undefined])[] = [
    [PROMPT, inputOf(item, 'prompt')],
    ['answer', getMember(item, 'answer')],
    ...meta.map(([pointer, value]) => [`meta.${pointer}`, value] as const),
  ];
  return {
    values: Object.fromEntries<string>(
      values.flatMap(([key, value]) => (key === PROMPT ? [] : [[key, plainText(value)] as const])),
    ),
    /** Keys of the columns whose cells show their value whole, so that it can be edited there. */
    editable: values.flatMap(([key, value]) =>
      (typeof value === 'string' || typeof value === 'number') && plainText(value) === String(value)
        ? [key]
        : [],
    ),
  };
}

export const PROMPT = 'prompt';

/** The item with texts in place of values, by the keys of their columns; a number stays one where its text is one. */
export function withTexts(item: JsonObject, texts: Readonly<Record<string, string>>): JsonObject {
  return Object.entries(texts).reduce<JsonObject>((edited, [key, text]) => {
    const pointer =
      key === PROMPT ? '/inputs/prompt' : key === 'answer' ? '/answer' : `/meta${key.slice('meta.'.length)}`;
    return withValueAt(edited, pointer, typedAs(valueAt(edited, pointer), text));
  }, item);
}

function typedAs(before: JsonValue | undefined, text: string): JsonValue {
  return typeof before === 'number' && text.trim() !== '' && Number.isFinite(Number(text))
    ? parseJson(text)
    : text;
}

const WINDOW_ITEMS = 50;

export function useItems(dataset: Dataset, search: DatasetSearch) {
  const { id, version, sections, section_count } = dataset;
  const { section, type, tag, q, expected } = search;
  const filters = { section, type, tag, q, expected, ...metaQuery(search) };
  const windows = useWindows<ItemSummary>({
    key: ['items', id, version, filters],
    size: WINDOW_ITEMS,
    read: async (page, signal) => {
      const query = { ...filters, ...page, version: String(version), assets: 'link' as const };
      const { data, meta } = await get('/datasets/{id}/items', { path: { id }, query }, signal);
      return { data: data.map((item) => summaryOf(item, id)), meta };
    },
  });
  const placeOf = ({ section, orderIndex }: ItemSummary): string | undefined =>
    positionIn(dataset, { section, order_index: orderIndex });
  // without any other filter, the row of a position is known before it is read
  const isWhole =
    JSON.stringify(filters) === JSON.stringify({ section }) && sections.length === section_count;
  const listed = sections.filter(({ name }) => section === undefined || name === section);
  return {
    ...windows,
    filters,
    rows: () => windows.rows().map(([, row]) => row),
    /** Position of a row in the dataset, `<section order>-<item order>`; undefined until the row is read. */
    positionOf: (index: number): string | undefined => {
      const item = windows.at(index);
      return item && placeOf(item);
    },
    indexOf: (item: string): number | undefined => {
      const isHash = isItemHash(item);
      if (isWhole && !isHash) return indexAt(listed, item);
      return windows.rows().find(([, row]) => (isHash ? row.hash : placeOf(row)) === item)?.[0];
    },
  };
}

function indexAt(sections: Dataset['sections'], position: string): number | undefined {
  const [section = -1, item = -1] = position.split('-').map(Number);
  let before = 0;
  for (const { order_index, item_count } of sections) {
    if (order_index === section) return item < item_count ? before + item : undefined;
    before += item_count;
  }
  return undefined;
}
