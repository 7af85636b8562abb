import type { ResponseOf } from '@svc/client';
import { useRead } from '../../../api/use-read.ts';
import { useCan } from '../../../session/session.tsx';

export type Provider = ResponseOf<'/providers', 'get'>['data'][number];

/** The providers that the operator configured, and the servers and models of earlier runs. */
export function useProviders(): readonly Provider[] {
  const canEdit = useCan('editor');
  const found = useRead({
    queryKey: ['providers'],
    read: (api, signal) => api.GET('/providers', { signal }),
    enabled: canEdit,
  });
  return found.data?.data ?? [];
}
