import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import type { Dataset } from './items/item-windows.ts';

/** A dataset as it is now, its numbers with every digit. Null asks for none. */
export function useDataset(id: string | null): UseQueryResult<Dataset> {
  const api = useApi();
  return useQuery({
    queryKey: ['dataset', id],
    queryFn: async ({ signal }) =>
      await dataOf(api.GET('/datasets/{id}', { params: { path: { id: id ?? '' } }, signal })),
    enabled: id !== null,
  });
}
