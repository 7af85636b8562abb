import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { get } from '../../api/api.ts';
import { metaQuery } from '../../ui/search-params.ts';
import { useWindows } from '../../ui/use-windows.ts';
import type { ResultsQuery, Run } from '../queries.ts';
import type { RunSearch } from '../runs-search.ts';
import { type ListedResult, listedResult, resultKey } from './listed-result.tsx';
import { orderOf } from './result-columns.tsx';

export function resultsQuery(search: RunSearch): ResultsQuery {
  const { columns, widths, tab, slice, other, cell, result, sample, n, seed, sort, ...stated } = search;
  const { section, type, tag, label, label_by, label_type, ...telling } = Object.fromEntries(
    Object.entries(stated).filter(([name]) => !name.startsWith('meta.')),
  );
  const ofItems = { section, type, tag, label, label_by, label_type, ...metaQuery(search) };
  // other filters and orders would tell how outputs were scored
  if (sample !== undefined) return { ...ofItems, sample, n, seed } as ResultsQuery;
  const order = orderOf(sort?.replace(/^-/, '') ?? '');
  return {
    ...{ ...ofItems, ...telling },
    ...(order !== undefined && { sort: `${sort?.startsWith('-') ? '-' : ''}${order}` }),
  } as ResultsQuery;
}

const WINDOW_RESULTS = 100;
const REFRESH_MS = 2_000;

export function useResults(run: Run, search: RunSearch) {
  const filters = resultsQuery(search);
  const windows = useWindows<ListedResult>({
    key: ['results', run.id, filters],
    size: WINDOW_RESULTS,
    read: async (page, signal) => {
      const query = { ...filters, ...page, include: 'item' as const };
      const { data, meta } = await get('/runs/{id}/results', { path: { id: run.id }, query }, signal);
      return { data: data.map(listedResult), meta };
    },
  });
  const { total, onRange: onWindows, refresh: readAgain } = windows;
  const [isAtTop, setAtTop] = useState(true);
  const onRange = useCallback(
    (first: number, last: number) => {
      setAtTop(first === 0);
      onWindows(first, last);
    },
    [onWindows],
  );
  // how many results there were when the list was read
  const of = JSON.stringify([run.id, filters]);
  const read = useMemo(() => ({ of, done: undefined as number | undefined }), [of]);
  if (total !== undefined) read.done ??= run.counts.done;
  const refresh = useCallback(async () => {
    read.done = undefined;
    await readAgain();
  }, [readAgain, read]);
  // the end of a run refreshes every list
  const news = run.finished_at !== null ? 0 : Math.max(0, run.counts.done - (read.done ?? run.counts.done));
  const follows = isAtTop && search.result === undefined && news > 0;
  useEffect(() => {
    if (!follows) return;
    const timer = setTimeout(() => void refresh(), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [follows, refresh]);
  return {
    ...windows,
    filters,
    onRange,
    refresh,
    /** How many results are new; they come by themselves while the list is at its start and nothing is open. */
    news: follows ? 0 : news,
  };
}

/** The result that an address names, read by its hash if it is not listed. It is null if there is none. */
export function useResult(
  run: Run,
  { result: key, sample }: Pick<RunSearch, 'result' | 'sample'>,
  listed: ListedResult | undefined,
) {
  const isListed = listed !== undefined && resultKey(listed) === key;
  const hash = /^[0-9a-f]{64}/.exec(key ?? '')?.[0];
  const found = useQuery({
    queryKey: ['result', run.id, key, sample],
    queryFn: async ({ signal }) => {
      const query = { item_hash: hash, include: 'item' as const, limit: 100, sample };
      const { data } = await get('/runs/{id}/results', { path: { id: run.id }, query }, signal);
      const result = data.find((one) => resultKey(one) === key);
      return result === undefined ? null : listedResult(result);
    },
    enabled: hash !== undefined && !isListed,
  });
  return { found, open: isListed ? listed : hash === undefined ? null : found.data };
}
