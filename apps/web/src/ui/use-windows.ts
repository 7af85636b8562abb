import { type UseQueryResult, useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';

/** Windows on either side of what is visible that stay in memory, and for how long without being seen. */
const KEPT_WINDOWS = 20;
const KEPT_MS = 60_000;

/** Where a page of a list begins, and how many rows it has at most: as the API takes it. */
type PlacedPage = ({ readonly cursor: string } | { readonly offset: number }) & {
  readonly limit: number;
};

/** A page as the API returns it, and rows that are read, kept and dropped as a whole. */
export interface Window<Row> {
  readonly data: readonly Row[];
  readonly meta: { readonly next_cursor: string | null; readonly total_items: number };
}

/**
 * A list of any length in windows around what is visible, each of which is read from its place. A page may end early where
 * rows are large, so that a window takes several.
 */
export function useWindows<Row>(list: {
  /** What is listed, its owner, and the filters. */
  readonly key: readonly [string, string, ...unknown[]];
  readonly size: number;
  readonly read: (page: PlacedPage, signal: AbortSignal) => Promise<Window<Row>>;
}) {
  const { key: of, size, read } = list;
  const queries = useQueryClient();
  const stated = JSON.stringify(of);
  const [what, owner] = of;
  // a text is found as a whole: objects are also found by a part, as a list by one without its filters
  const key = useMemo(() => [what, owner, stated] as const, [what, owner, stated]);
  const [[from, to], setRange] = useState<readonly [number, number]>([0, 0]);
  // the windows that said it may have been dropped
  const known = useMemo(() => ({ of: key, total: undefined as number | undefined }), [key]);
  const first = Math.floor(from / size);
  const last = Math.floor(to / size);
  const visible: UseQueryResult<Window<Row>>[] = useQueries({
    queries: Array.from({ length: last - first + 1 }, (_, at) => first + at).map((window) => ({
      queryKey: [...key, window],
      queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Window<Row>> => {
        const rows: Row[] = [];
        // continuing costs less than starting at a position
        let cursor = queries.getQueryData<Window<Row>>([...key, window - 1])?.meta.next_cursor ?? undefined;
        for (;;) {
          const start = cursor === undefined ? { offset: window * size + rows.length } : { cursor };
          const { data, meta } = await read({ ...start, limit: size - rows.length }, signal);
          rows.push(...data);
          if (meta.next_cursor === null || rows.length >= size || data.length === 0)
            return { data: rows, meta };
          cursor = meta.next_cursor;
        }
      },
      gcTime: KEPT_MS,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  known.total = visible.findLast(({ data }) => data !== undefined)?.data?.meta.total_items ?? known.total;

  useEffect(() => {
    const isFar = (window: unknown): boolean =>
      Number(window) < first - KEPT_WINDOWS || Number(window) > last + KEPT_WINDOWS;
    queries.removeQueries({
      queryKey: key,
      type: 'inactive',
      predicate: ({ queryKey }) => isFar(queryKey.at(-1)),
    });
  }, [queries, key, first, last]);

  return {
    /** Rows of the whole list; undefined until the first answer. */
    total: known.total,
    error: visible.find(({ error }) => error !== null)?.error ?? null,
    at: (index: number) =>
      queries.getQueryData<Window<Row>>([...key, Math.floor(index / size)])?.data[index % size],
    rows: () =>
      queries
        .getQueriesData<Window<Row>>({ queryKey: key })
        .flatMap(([queryKey, window]) =>
          (window?.data ?? []).map((row, at) => [Number(queryKey.at(-1)) * size + at, row] as const),
        ),
    refresh: useCallback(() => queries.invalidateQueries({ queryKey: key }), [queries, key]),
    onRange: useCallback((shown: number, end: number) => setRange([shown, end]), []),
  };
}

/**
 * The chosen row of a list that is read in part. The address names it by a key, which means the same row in any order and
 * under any filter; a row that is not read yet is chosen as soon as it is.
 */
export function useChosenRow({
  keyAt,
  indexOf,
  chosen,
  onChoose,
}: {
  /** Key of a row; undefined until it is read. */
  readonly keyAt: (index: number) => string | undefined;
  readonly indexOf: (key: string) => number | undefined;
  readonly chosen: string | undefined;
  readonly onChoose: (key: string) => void;
}): {
  readonly selected: number | undefined;
  readonly select: (index: number) => void;
} {
  const [awaited, setAwaited] = useState<number>();
  // rows may have the same key, and the chosen one may be dropped
  const [last, setLast] = useState<{ readonly index: number; readonly key: string }>();
  const select = (index: number): void => {
    const key = keyAt(index);
    setAwaited(key === undefined ? index : undefined);
    if (key === undefined) return;
    setLast({ index, key });
    onChoose(key);
  };
  const isRead = awaited !== undefined && keyAt(awaited) !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the row has been read
  useEffect(() => {
    if (isRead && awaited !== undefined) select(awaited);
  }, [isRead, awaited]);
  const found = (): number | undefined => {
    if (chosen === undefined) return undefined;
    const { index, key } = last ?? {};
    const isLast = index !== undefined && key === chosen && (keyAt(index) ?? key) === key;
    return isLast ? index : indexOf(chosen);
  };
  return { selected: awaited ?? found(), select };
}
