import type { ApiClient, ResponseOf } from '@svc/client';
import { getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { dataOf } from '../../api/api-problem.ts';
import { plainText } from '../../ui/text/pretty-json.ts';
import type { Window } from '../../ui/use-windows.ts';
import { thumbnailOf } from './asset-list.tsx';
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
  readonly id: string;
  readonly type: string;
  readonly question: string;
  /** Address of an image; undefined without a small one. */
  readonly thumbnail: string | undefined;
  readonly tags: readonly string[];
}

/** Items of one window. */
export const WINDOW_ITEMS = 50;

/** Where a window begins: a position in the dataset, or a cursor of the window before it. */
export type WindowStart = { readonly from: string } | { readonly cursor: string } | Record<string, never>;

/** Reads a window. Pages end early where items are large, so one window may take several. */
export async function readWindow(
  api: ApiClient,
  { id, version }: VersionOf,
  filters: ItemFilters,
  start: WindowStart,
  signal: AbortSignal,
): Promise<Window<ItemSummary>> {
  const items: ItemSummary[] = [];
  let position: WindowStart = start;
  for (;;) {
    const query = {
      ...filters,
      ...position,
      version: String(version),
      limit: WINDOW_ITEMS - items.length,
      assets: 'link' as const,
    };
    const { data, meta } = await dataOf(
      api.GET('/datasets/{id}/items', { params: { path: { id }, query }, signal }),
    );
    items.push(...data.map((item) => summaryOf(item, id)));
    if (meta.next_cursor === null || items.length >= WINDOW_ITEMS || data.length === 0)
      return { rows: items, nextCursor: meta.next_cursor, total: meta.total_items };
    position = { cursor: meta.next_cursor };
  }
}

/**
 * Reads one whole item by its position, `<section order>-<item order>`.
 *
 * @param assets whether its files are links, by default, or embedded
 */
export async function readItem(
  api: ApiClient,
  { id, version }: VersionOf,
  from: string,
  signal: AbortSignal | undefined,
  assets: 'link' | 'embed' = 'link',
): Promise<ListedItem | null> {
  const query = { from, limit: 1, assets, version: String(version) };
  const { data } = await dataOf(
    api.GET('/datasets/{id}/items', { params: { path: { id }, query }, ...(signal && { signal }) }),
  );
  return data[0] ?? null;
}

function summaryOf({ section, order_index, item, error }: ListedItem, datasetId: string): ItemSummary {
  const whole = (item ?? {}) as JsonObject;
  return {
    section,
    orderIndex: order_index,
    id: plainText(getMember(whole, 'id'), 60),
    type: plainText(getMember(whole, 'type'), 40) || 'freeform',
    question: item === null ? (error?.message ?? 'Too large to be listed') : questionOf(whole),
    thumbnail: thumbnailOf(assetsOf(whole), datasetId),
    tags: tagsOf(whole).slice(0, 5),
  };
}
