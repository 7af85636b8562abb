import { canonicalJson } from '@svc/jsonl-v23/json';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import type { NewRunBody } from './run-form.ts';

/**
 * Starts runs and opens the page of the one, or the list with all of them chosen. A second try after an error starts those
 * again that did not start.
 */
export function useStart(
  requests: readonly NewRunBody[] | null,
  onStarted: () => void,
): UseMutationResult<readonly string[], Error, void> {
  const api = useApi();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const text = requests === null ? '' : canonicalJson(requests as never);
  // a request with the same key is answered like the first one, so that nothing starts twice
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another attempt
  const key = useMemo(() => crypto.getRandomValues(new Uint32Array(4)).join('-'), [text]);
  return useMutation({
    mutationFn: async () => {
      const ids: string[] = [];
      for (const [at, body] of (requests ?? []).entries()) {
        const run = await dataOf(
          api.POST('/runs', {
            params: { header: { 'Idempotency-Key': `${key}-${at}` } },
            body,
            bodySerializer: canonicalJson,
          }),
        );
        ids.push((run as { readonly id: string }).id);
      }
      return ids;
    },
    onSuccess: async (ids) => {
      onStarted();
      await queries.invalidateQueries({ queryKey: ['runs'] });
      const [id = ''] = ids;
      if (ids.length === 1) await navigate({ to: '/runs/$id', params: { id } });
      else
        await navigate({
          to: '/runs',
          search: { dataset: requests?.[0]?.dataset_id, chosen: ids.join(',') },
        });
    },
  });
}
