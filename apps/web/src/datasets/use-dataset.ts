import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { get } from '../api/api.ts';
import type { Dataset } from './items/item-windows.ts';

/**
 * A dataset as it is now, or as a version of it was, its numbers with every digit.
 *
 * @param id id or handle; null asks for none
 * @param version number or beginning of the hash; by default the newest
 */
export function useDataset(id: string | null, version?: string | undefined): UseQueryResult<Dataset> {
  return useQuery({
    queryKey: ['dataset', id, version ?? null],
    queryFn: ({ signal }) => get('/datasets/{id}', { path: { id: id ?? '' }, query: { version } }, signal),
    enabled: id !== null,
  });
}
