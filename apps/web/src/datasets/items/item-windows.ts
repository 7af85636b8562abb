import type { ResponseOf } from '@svc/client';
import { getMember, isJsonObject, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { get } from '../../api/api.ts';
import { leavesOf, valueAt, withValueAt } from '../../ui/pointer-of.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import { isItemHash } from '../dataset-search.ts';
import { thumbnailOf } from './asset-list.tsx';
import { assetsOf, inputOf, questionOf, tagsOf } from './item-reading.ts';

export type ListedItem = ResponseOf<'/datasets/{id}/items', 'get'>['data'][number];
export type Dataset = ResponseOf<'/datasets/{id}', 'get'>;

/** A version of a dataset: what is read of it stays the same while the dataset changes. */
export type VersionOf = Pick<Dataset, 'id' | 'version'>;

/** Which items of a dataset are listed. */
export interface ItemFilters {
  readonly section?: string | undefined;
  readonly type?: string | undefined;
  readonly tag?: string | undefined;
  readonly q?: string | undefined;
  readonly expected?: string | undefined;
  /** Values of the metadata. */
  readonly [name: `meta.${string}`]: string | undefined;
}

/** What the list keeps of an item. The whole item is read when it is opened. */
export interface ItemSummary {
  readonly section: string;
  readonly orderIndex: number;
  readonly hash: string;
  readonly id: string;
  readonly type: string;
  readonly question: string;
  /** Address of an image; undefined without a small one. */
  readonly thumbnail: string | undefined;
  readonly tags: readonly string[];
  /** What the cells of other columns show, by their keys. */
  readonly values: Readonly<Record<string, string>>;
  /** Keys of the columns whose cells show their value whole, so that it can be edited there. */
  readonly editable: readonly string[];
}

/** Reads one whole item, its files as links, by its position, `<section order>-<item order>`, or by its hash. */
export async function readItem(
  { id, version }: VersionOf,
  item: string,
  signal: AbortSignal | undefined,
): Promise<ListedItem | null> {
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

/** What the list keeps of an item of a page. */
export function summaryOf(listed: ListedItem, datasetId: string): ItemSummary {
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

/** Values of the metadata of an item that the list has. */
const MAX_META = 100;

function valuesOf(item: JsonObject): Pick<ItemSummary, 'values' | 'editable'> {
  const meta = getMember(item, 'meta');
  const values: readonly (readonly [string, JsonValue | undefined])[] = [
    [PROMPT, inputOf(item, 'prompt')],
    ['answer', getMember(item, 'answer')],
    ...(meta !== undefined && isJsonObject(meta) ? leavesOf(meta) : [])
      .slice(0, MAX_META)
      .map(([pointer, value]) => [`meta.${pointer}`, value] as const),
  ];
  return {
    values: Object.fromEntries(
      values.flatMap(([key, value]) => (key === PROMPT ? [] : [[key, plainText(value)] as const])),
    ),
    editable: values.flatMap(([key, value]) =>
      (typeof value === 'string' || typeof value === 'number') && plainText(value) === String(value)
        ? [key]
        : [],
    ),
  };
}

/** The key of the column of what an item asks. */
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
