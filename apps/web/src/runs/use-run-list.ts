import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../api/api.ts';
import { BY_CURSOR } from '../ui/more-button.tsx';
import { useDatasetNames } from './dataset-names.ts';
import type { RunsSearch } from './runs-search.ts';
import { modelOf, nameOf, type Run } from './use-run.ts';

const PAGE = 100;
const REFRESH_MS = 2_000;
const IDLE_REFRESH_MS = 15_000;

/** The runs that the address asks for, newest first, page by page; those of active ones are read again. */
export function useRunList({ dataset, status, q }: RunsSearch) {
  const found = useInfiniteQuery({
    queryKey: ['runs', 'pages', { dataset, status }],
    queryFn: ({ signal, pageParam }) =>
      get('/runs', { query: { dataset_id: dataset, status, limit: PAGE, cursor: pageParam } }, signal),
    ...BY_CURSOR,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) =>
      state.data?.pages[0]?.data.some(({ finished_at }) => finished_at === null) === true
        ? REFRESH_MS * state.data.pages.length
        : IDLE_REFRESH_MS,
  });
  const read = found.data?.pages.flatMap(({ data }) => data) ?? [];
  const datasetOf = useDatasetNames(read);
  const wanted = q?.toLowerCase();
  const has = (run: Run): boolean =>
    wanted === undefined ||
    [nameOf(run), modelOf(run) ?? '', datasetOf(run)].some((text) => text.toLowerCase().includes(wanted));
  return {
    found,
    read,
    runs: read.filter(has),
    total: found.data?.pages[0]?.meta.total_items ?? 0,
    datasetOf,
  };
}
