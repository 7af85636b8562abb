import { type UseQueryResult, useQueries, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';

/** Windows on either side of what is visible that stay in memory, and for how long without being seen. */
const KEPT_WINDOWS = 20;
const KEPT_MS = 60_000;

/** Where a page of a list begins, and how many rows it has at most: as the API takes it. */
export type PlacedPage = ({ readonly cursor: string } | { readonly offset: number }) & {
  readonly limit: number;
};

/** A page as the API returns it. */
interface PageOf<Row> {
  readonly data: readonly Row[];
  readonly meta: { readonly next_cursor: string | null; readonly total_items: number };
}

/** Rows that are read, kept and dropped as a whole. */
export interface Window<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next window; null at the end. */
  readonly nextCursor: string | null;
  /** Rows of the whole list. */
  readonly total: number;
}

export interface Windows<Row> {
  /** Rows of the whole list; undefined until the first answer. */
  readonly total: number | undefined;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly at: (index: number) => Row | undefined;
  /** All rows in memory, with their places in the list. */
  readonly rows: () => readonly (readonly [index: number, row: Row])[];
  readonly onRange: (first: number, last: number) => void;
  /** Reads what is visible again. */
  readonly refresh: () => Promise<void>;
}

/**
 * A list of any length in windows around what is visible, each of which is read from its place.
 *
 * @param key what the list depends on; the same object as long as that is the same
 * @param size rows of a window
 * @param read reads a page. It may end early where rows are large, so that a window takes several
 */
export function useWindows<Row>({
  key,
  size,
  read,
}: {
  readonly key: readonly unknown[];
  readonly size: number;
  readonly read: (page: PlacedPage, signal: AbortSignal) => Promise<PageOf<Row>>;
}): Windows<Row> {
  const queries = useQueryClient();
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
        let cursor = queries.getQueryData<Window<Row>>([...key, window - 1])?.nextCursor ?? undefined;
        for (;;) {
          const start = cursor === undefined ? { offset: window * size + rows.length } : { cursor };
          const { data, meta } = await read({ ...start, limit: size - rows.length }, signal);
          rows.push(...data);
          if (meta.next_cursor === null || rows.length >= size || data.length === 0)
            return { rows, nextCursor: meta.next_cursor, total: meta.total_items };
          cursor = meta.next_cursor;
        }
      },
      gcTime: KEPT_MS,
      staleTime: Number.POSITIVE_INFINITY,
    })),
  });
  known.total = visible.findLast(({ data }) => data !== undefined)?.data?.total ?? known.total;

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
    total: known.total,
    isPending: visible.some(({ isPending, fetchStatus }) => isPending && fetchStatus !== 'idle'),
    error: visible.find(({ error }) => error !== null)?.error ?? null,
    at: (index) => queries.getQueryData<Window<Row>>([...key, Math.floor(index / size)])?.rows[index % size],
    rows: () =>
      queries
        .getQueriesData<Window<Row>>({ queryKey: key })
        .flatMap(([queryKey, window]) =>
          (window?.rows ?? []).map((row, at) => [Number(queryKey.at(-1)) * size + at, row] as const),
        ),
    refresh: useCallback(() => queries.invalidateQueries({ queryKey: key }), [queries, key]),
    onRange: useCallback((shown: number, end: number) => setRange([shown, end]), []),
  };
}
