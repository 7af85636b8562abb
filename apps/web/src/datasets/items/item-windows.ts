import type { ApiClient, ResponseOf } from '@svc/client';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { dataOf } from '../../api/api-problem.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import { thumbnailOf } from './asset-list.tsx';
import { isItemHash } from './item-hash.ts';
import { assetsOf, questionOf, tagsOf } from './item-reading.ts';

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
}

/** Reads one whole item, its files as links, by its position, `<section order>-<item order>`, or by its hash. */
export async function readItem(
  api: ApiClient,
  { id, version }: VersionOf,
  item: string,
  signal: AbortSignal | undefined,
): Promise<ListedItem | null> {
  const place = isItemHash(item) ? { item_hash: item } : { from: item };
  const query = { ...place, limit: 1, assets: 'link' as const, version: String(version) };
  const { data } = await dataOf(
    api.GET('/datasets/{id}/items', { params: { path: { id }, query }, ...(signal && { signal }) }),
  );
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
  };
}
