import type { ResponseOf } from '@svc/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import type { Run } from '../use-run.ts';

type LabelSummary = ResponseOf<'/runs/{id}/labels', 'get'>['summary'];

/** How many labels the results of a run have, by person and by type of failure. */
export function useLabels(run: Run): UseQueryResult<LabelSummary> {
  const api = useApi();
  return useQuery({
    queryKey: ['labels', run.id],
    queryFn: async ({ signal }) => {
      const params = { path: { id: run.id }, query: { limit: 1 } };
      return (await dataOf(api.GET('/runs/{id}/labels', { params, signal }))).summary;
    },
  });
}
