import type { ResponseOf } from '@svc/client';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { get } from '../../api/api.ts';
import type { Run } from '../use-run.ts';

type LabelSummary = ResponseOf<'/runs/{id}/labels', 'get'>['summary'];

/** How many labels the results of a run have, by person and by type of failure. */
export function useLabels(run: Run): UseQueryResult<LabelSummary> {
  return useQuery({
    queryKey: ['labels', run.id],
    queryFn: async ({ signal }) => {
      const params = { path: { id: run.id }, query: { limit: 1 } };
      return (await get('/runs/{id}/labels', params, signal)).summary;
    },
  });
}
