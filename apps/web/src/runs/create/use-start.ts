import { canonicalJson } from '@svc/jsonl-v23/json';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useApi } from '../../api/api-context.tsx';
import { dataOf } from '../../api/api-problem.ts';
import type { NewRunBody } from './run-form.ts';

/** Items of a trial. */
export const TRIAL_ITEMS = 3;

/** The same run over the first items only. */
export function trialOf({ config, name, ...body }: NewRunBody): NewRunBody {
  const select = { ...(config as { readonly select?: object }).select, limit: TRIAL_ITEMS };
  return {
    ...body,
    name: `Trial${name == null ? '' : ` of ${name}`}`.slice(0, 255),
    config: { ...config, select },
  };
}

/** Starts a run and opens its page. */
export function useStart(): UseMutationResult<string, Error, NewRunBody> {
  const api = useApi();
  const navigate = useNavigate();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: NewRunBody) => {
      const run = await dataOf(
        api.POST('/runs', {
          params: { header: { 'Idempotency-Key': crypto.getRandomValues(new Uint32Array(4)).join('-') } },
          body,
          bodySerializer: canonicalJson,
        }),
      );
      return (run as { readonly id: string }).id;
    },
    onSuccess: async (id) => {
      await queries.invalidateQueries({ queryKey: ['runs'] });
      await navigate({ to: '/runs/$id', params: { id } });
    },
  });
}
