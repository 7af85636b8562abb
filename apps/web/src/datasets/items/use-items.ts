import { useCallback, useEffect, useMemo, useState } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { useWindows } from '../../ui/use-windows.ts';
import {
  type Dataset,
  type ItemFilters,
  type ItemSummary,
  readWindow,
  WINDOW_ITEMS,
  type WindowStart,
} from './item-windows.ts';

/** Items of a filtered list of which any can be reached at once: what is before them is read. More grow while they are scrolled. */
const MAX_DIRECT = 10_000;

export interface Items {
  /** Rows of the list; grows while a filtered list is read. */
  readonly count: number;
  /** How many there are; undefined until the first answer. */
  readonly total: number | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly at: (index: number) => ItemSummary | undefined;
  readonly onRange: (first: number, last: number) => void;
  /** Position of a row in the dataset, `<section order>-<item order>`. */
  readonly positionOf: (index: number) => string | undefined;
  /** The row at a position, where it is known. */
  readonly indexAt: (position: string) => number | undefined;
}

/**
 * The items of a dataset in windows around what is visible. Without a filter any window can be read directly, by its
 * position; with one, each begins at the cursor of the window before.
 */
export function useItems(dataset: Dataset, filters: ItemFilters): Items {
  const api = useApi();
  const { section, type, tag, q } = filters;
  const sections = useMemo(
    () => dataset.sections.filter(({ name }) => section === undefined || name === section),
    [dataset, section],
  );
  const isDirect =
    type === undefined &&
    tag === undefined &&
    q === undefined &&
    dataset.sections.length === dataset.section_count;
  const key = useMemo(
    () => ['items', dataset.id, dataset.version, { section, type, tag, q }],
    [dataset.id, dataset.version, section, type, tag, q],
  );

  // where the windows of a filtered list begin: what is left of those that were dropped
  const cursors = useMemo(() => ({ of: key, byWindow: new Map<number, string>() }), [key]);
  const [, setWindowsRead] = useState(0);

  const startOf = useCallback(
    (window: number): WindowStart | null => {
      if (isDirect) {
        const from = positionOf(sections, window * WINDOW_ITEMS);
        return from === undefined ? null : { from };
      }
      if (window === 0) return {};
      const cursor = cursors.byWindow.get(window);
      return cursor === undefined ? null : { cursor };
    },
    [isDirect, sections, cursors],
  );

  const windows = useWindows<ItemSummary>({
    key,
    size: WINDOW_ITEMS,
    canRead: (window) => startOf(window) !== null,
    read: async (window, signal) => {
      const filtered = { section, type, tag, q };
      const found = await readWindow(api, dataset, filtered, startOf(window) ?? {}, signal);
      if (found.nextCursor !== null) cursors.byWindow.set(window + 1, found.nextCursor);
      return found;
    },
  });
  const lastWindow = windows.last;

  // the way to a window whose beginning is not known yet
  const isUnknown = startOf(lastWindow) === null;
  useEffect(() => {
    if (isDirect || !isUnknown) return;
    const leaving = new AbortController();
    const walk = async (): Promise<void> => {
      for (let window = Math.max(0, ...cursors.byWindow.keys()); window < lastWindow; window += 1) {
        const filtered = { section, type, tag, q };
        const found = await readWindow(api, dataset, filtered, startOf(window) ?? {}, leaving.signal);
        if (found.nextCursor === null) return;
        cursors.byWindow.set(window + 1, found.nextCursor);
      }
      setWindowsRead((count) => count + 1);
    };
    // what cannot be read is said where the window itself is read
    walk().catch(() => undefined);
    return () => leaving.abort();
  }, [api, dataset, section, type, tag, q, isDirect, isUnknown, lastWindow, cursors, startOf]);

  const directCount = sections.reduce((sum, { item_count }) => sum + item_count, 0);
  const known = windows.visible.findLastIndex(({ data }) => data !== undefined);
  const { rows = [], nextCursor = null } = windows.visible[known]?.data ?? {};
  const sequentialCount =
    known === -1
      ? 0
      : (windows.first + known) * WINDOW_ITEMS + rows.length + (nextCursor === null ? 0 : WINDOW_ITEMS);
  const total = isDirect ? directCount : windows.total;
  const isReachable = total !== undefined && total <= MAX_DIRECT;
  const { at, error, isPending, onRange } = windows;
  const orderOf = new Map(dataset.sections.map(({ name, order_index }) => [name, order_index]));
  return {
    count: isDirect ? directCount : isReachable ? total : Math.min(sequentialCount, total ?? 0),
    total,
    ...{ isPending, error, at, onRange },
    positionOf: (index) => {
      if (isDirect) return positionOf(sections, index);
      const item = at(index);
      const order = item === undefined ? undefined : orderOf.get(item.section);
      return item === undefined || order === undefined ? undefined : `${order}-${item.orderIndex}`;
    },
    indexAt: (position) => {
      if (isDirect) return indexAt(sections, position);
      return windows
        .rows()
        .find(([, one]) => `${orderOf.get(one.section)}-${one.orderIndex}` === position)?.[0];
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
