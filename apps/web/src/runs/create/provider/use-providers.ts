import type { ResponseOf } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { useApi } from '../../../api/api-context.tsx';
import { dataOf } from '../../../api/api-problem.ts';
import { useCan } from '../../../session/session.tsx';

export type Provider = ResponseOf<'/providers', 'get'>['data'][number];

/** The providers that the operator configured, and the servers and models of earlier runs. */
export function useProviders(): readonly Provider[] {
  const api = useApi();
  const canEdit = useCan('editor');
  const found = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => dataOf(api.GET('/providers', { signal })),
    enabled: canEdit,
  });
  return found.data?.data ?? [];
}
