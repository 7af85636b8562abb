import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import type { Dataset } from './items/item-windows.ts';

/**
 * A dataset as it is now, or as a version of it was, its numbers with every digit.
 *
 * @param id id or handle; null asks for none
 * @param version number or beginning of the hash; by default the newest
 */
export function useDataset(id: string | null, version?: string | undefined): UseQueryResult<Dataset> {
  const api = useApi();
  return useQuery({
    queryKey: ['dataset', id, version ?? null],
    queryFn: async ({ signal }) =>
      await dataOf(
        api.GET('/datasets/{id}', { params: { path: { id: id ?? '' }, query: { version } }, signal }),
      ),
    enabled: id !== null,
  });
}
