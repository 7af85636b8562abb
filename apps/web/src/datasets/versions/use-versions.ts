import type { ResponseOf } from '@svc/client';
import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import { BY_CURSOR } from '../../ui/more-button.tsx';
import { formatCount } from '../../ui/text/formats.ts';

type Versions = ResponseOf<'/datasets/{id}/versions', 'get'>;
export type Version = Versions['data'][number];

const PAGE = 50;

/** The history of a dataset, newest first, page by page. Null reads nothing. */
export function useVersions(id: string | null): UseInfiniteQueryResult<InfiniteData<Versions>> {
  return useInfiniteQuery({
    queryKey: ['versions', id],
    queryFn: ({ signal, pageParam }) =>
      get(
        '/datasets/{id}/versions',
        { path: { id: id ?? '' }, query: { limit: PAGE, cursor: pageParam } },
        signal,
      ),
    ...BY_CURSOR,
    enabled: id !== null,
  });
}

/** What a version changed, in words: `1 added, 2 changed`. */
export function changeText(change: Version['change']): string {
  const parts = (['added', 'changed', 'removed'] as const)
    .filter((kind) => change[kind] > 0)
    .map((kind) => `${formatCount(change[kind])} ${kind}`);
  return parts.length === 0 ? 'no item differs' : parts.join(', ');
}
