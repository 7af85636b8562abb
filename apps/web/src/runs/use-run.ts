import type { ResponseOf } from '@svc/client';
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useApi } from '../api/api-context.tsx';
import { dataOf } from '../api/api-problem.ts';
import { useEvents } from '../api/use-events.ts';

export type Run = ResponseOf<'/runs/{id}', 'get'>;
export type Result = ResponseOf<'/runs/{id}/results', 'get'>['data'][number];

/** A run as it is now, followed until its end. */
export function useRun(id: string): UseQueryResult<Run> {
  const api = useApi();
  const queries = useQueryClient();
  const found = useQuery({
    queryKey: ['run', id],
    queryFn: ({ signal }) => dataOf(api.GET('/runs/{id}', { params: { path: { id } }, signal })),
  });
  const isActive = found.data !== undefined && found.data.finished_at === null;
  useEvents<Run>(isActive ? `/runs/${id}/events` : null, (run) => {
    queries.setQueryData(['run', id], run);
    if (run.finished_at !== null) void queries.invalidateQueries({ queryKey: ['results', id] });
  });
  return found;
}

/** What a run of a provider without a model is called. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = { item_field: 'Answers in the items', echo: 'Echo' };

/** The name of a run: its own, its model, or what its provider does. */
export function nameOf(run: Pick<Run, 'id' | 'name' | 'config'>): string {
  if (run.name !== null) return run.name;
  const { provider } = run.config as {
    readonly provider?: { readonly type?: string; readonly model?: string };
  };
  const type = provider?.type ?? '';
  return provider?.model ?? PROVIDER_NAMES[type] ?? `Run ${run.id.slice(0, 8)}`;
}
