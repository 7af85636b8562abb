import { useCallback, useEffect, useMemo, useState } from 'react';
import { get } from '../../api/api.ts';
import { useWindows } from '../../ui/use-windows.ts';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { type ListedResult, listedResult } from './listed-result.ts';
import { resultsQuery } from './results-query.ts';

const WINDOW_RESULTS = 100;
const REFRESH_MS = 2_000;

/** The results that the filters of an address choose, while the run works too. */
export function useResults(run: Run, search: RunSearch) {
  // the same object while the address says the same
  const stated = JSON.stringify(resultsQuery(search));
  const filters = useMemo(() => JSON.parse(stated) as ReturnType<typeof resultsQuery>, [stated]);
  const key = useMemo(() => ['results', run.id, filters] as const, [run.id, filters]);
  const windows = useWindows<ListedResult>({
    key,
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
  const read = useMemo(() => ({ of: key, done: undefined as number | undefined }), [key]);
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
