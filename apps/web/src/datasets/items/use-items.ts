import { useMemo } from 'react';
import { get } from '../../api/api.ts';
import { metaQuery } from '../../ui/search-params.ts';
import { useWindows } from '../../ui/use-windows.ts';
import { isItemHash } from '../dataset-search.ts';
import { type Dataset, type ItemFilters, type ItemSummary, summaryOf } from './item-windows.ts';

const WINDOW_ITEMS = 50;

export interface Items {
  /** How many there are; undefined until the first answer. */
  readonly total: number | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly at: (index: number) => ItemSummary | undefined;
  /** All rows in memory. */
  readonly rows: () => readonly ItemSummary[];
  readonly onRange: (first: number, last: number) => void;
  /** Position of a row in the dataset, `<section order>-<item order>`. */
  readonly positionOf: (index: number) => string | undefined;
  /** The row of the item with a hash, or at a position, where it is known. */
  readonly indexOf: (item: string) => number | undefined;
}

/** The items of a dataset. Without a filter, each row is known by its number before it is read. */
export function useItems(dataset: Dataset, filters: ItemFilters): Items {
  const { id, version } = dataset;
  const { section, type, tag, q, expected } = filters;
  const ofMeta = metaQuery(filters);
  const stated = JSON.stringify(ofMeta);
  const sections = useMemo(
    () => dataset.sections.filter(({ name }) => section === undefined || name === section),
    [dataset, section],
  );
  const isDirect =
    type === undefined &&
    tag === undefined &&
    q === undefined &&
    expected === undefined &&
    stated === '{}' &&
    dataset.sections.length === dataset.section_count;
  const key = useMemo(
    () => ['items', id, version, { section, type, tag, q, expected, stated }],
    [id, version, section, type, tag, q, expected, stated],
  );
  const windows = useWindows<ItemSummary>({
    key,
    size: WINDOW_ITEMS,
    read: async (page, signal) => {
      const query = {
        ...{ section, type, tag, q, expected },
        ...ofMeta,
        ...page,
        version: String(version),
        assets: 'link' as const,
      };
      const { data, meta } = await get('/datasets/{id}/items', { path: { id }, query }, signal);
      return { data: data.map((item) => summaryOf(item, id)), meta };
    },
  });
  const { at, error, isPending, onRange } = windows;
  const orderOf = new Map(dataset.sections.map(({ name, order_index }) => [name, order_index]));
  return {
    total: isDirect ? sections.reduce((sum, { item_count }) => sum + item_count, 0) : windows.total,
    ...{ isPending, error, at, onRange },
    rows: () => windows.rows().map(([, row]) => row),
    positionOf: (index) => {
      if (isDirect) return positionOf(sections, index);
      const item = at(index);
      const order = item === undefined ? undefined : orderOf.get(item.section);
      return item === undefined || order === undefined ? undefined : `${order}-${item.orderIndex}`;
    },
    indexOf: (item) => {
      const isHash = isItemHash(item);
      if (isDirect && !isHash) return indexAt(sections, item);
      return windows
        .rows()
        .find(([, { hash, section: of, orderIndex }]) =>
          isHash ? hash === item : `${orderOf.get(of)}-${orderIndex}` === item,
        )?.[0];
    },
  };
}

type Sections = Dataset['sections'];

/** The position of the item with this number in the sections together. */
function positionOf(sections: Sections, index: number): string | undefined {
  let before = 0;
  for (const { order_index, item_count } of sections) {
    if (index < before + item_count) return `${order_index}-${index - before}`;
    before += item_count;
  }
  return undefined;
}

/** The number of the item at a position in the sections together. */
function indexAt(sections: Sections, position: string): number | undefined {
  const [section = -1, item = -1] = position.split('-').map(Number);
  let before = 0;
  for (const { order_index, item_count } of sections) {
    if (order_index === section) return item < item_count ? before + item : undefined;
    before += item_count;
  }
  return undefined;
}
