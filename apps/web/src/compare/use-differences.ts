import type { ResponseOf } from '@svc/client';
import { useMemo } from 'react';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useWindows, type Windows } from '../ui/use-windows.ts';
import type { CompareSearch } from './compare-search.ts';

export type Compared = ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>;
export type Difference = Compared['data'][number];

const WINDOW_DIFFERENCES = 50;

/** The items in which two runs differ. */
export function useDifferences(
  id: string,
  otherId: string,
  { only, by, scorer }: Pick<CompareSearch, 'only' | 'by' | 'scorer'>,
): Windows<Difference> {
  const api = useApi();
  return useWindows<Difference>({
    key: useMemo(() => ['differences', id, otherId, { only, by, scorer }], [id, otherId, only, by, scorer]),
    size: WINDOW_DIFFERENCES,
    read: (page, signal) =>
      dataOf(
        api.GET('/runs/{id}/compare/{other_id}', {
          params: { path: { id, other_id: otherId }, query: { only, pair_by: by, scorer, ...page } },
          signal,
        }),
      ),
  });
}
