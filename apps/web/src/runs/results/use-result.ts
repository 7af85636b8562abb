import { useQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import type { RunSearch } from '../runs-search.ts';
import type { Run } from '../use-run.ts';
import { type ListedResult, listedResult, resultKey } from './listed-result.ts';

/**
 * The result that an address names: that of the list, or one that the list does not have, which is read by its hash.
 *
 * @param search of the address: its `result`, as `resultKey` makes it, and whether the sample is blind
 * @returns null where there is none; undefined until it is read
 */
export function useResult(
  run: Run,
  { result: key, sample }: Pick<RunSearch, 'result' | 'sample'>,
  listed: ListedResult | undefined,
): ListedResult | null | undefined {
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
  if (isListed) return listed;
  return hash === undefined ? null : found.data;
}
