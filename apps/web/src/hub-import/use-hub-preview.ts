import type { ResponseOf } from '@svc/client';
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { exact } from '../api/exact.ts';
import type { Mapping } from '../mapping/mapping-fields.ts';
import type { ImportSearch } from './import-search.ts';

export type HubPreview = ResponseOf<'/datasets/hub/preview', 'post'>;

const ROWS = 20;

/** The preview of a slice of a hub dataset; with a mapping, also its first rows as items. */
export function useHubPreview(search: ImportSearch, mapping: Mapping | null): UseQueryResult<HubPreview> {
  const api = useApi();
  const { path, subset, split, revision } = search;
  return useQuery({
    queryKey: ['hub-preview', path, subset, split, revision, mapping],
    queryFn: async ({ signal }) => {
      const body = {
        path: path ?? '',
        subset,
        split,
        revision,
        limit: ROWS,
        ...(mapping === null ? {} : { mapping }),
      };
      return exact<HubPreview>(
        await dataOf(api.POST('/datasets/hub/preview', { body, parseAs: 'text', signal })),
      );
    },
    enabled: path !== undefined,
    staleTime: 5 * 60_000,
    // the items of the last mapping stay until those of the next are there
    placeholderData: mapping === null ? undefined : keepPreviousData,
  });
}
