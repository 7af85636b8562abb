import type { ResponseOf } from '@svc/client';
import { useQuery } from '@tanstack/react-query';
import { get } from '../../../api/api.ts';
import { useCan } from '../../../session/session.tsx';
import type { Run } from '../../queries.ts';
import type { Config } from '../config-values.ts';

/** What recent runs of the same protocol had as a member of their provider. */
export const valuesOf = (
  runs: readonly Run[],
  type: string,
  name: 'base_url' | 'model' | 'api_key_env',
): readonly string[] => [
  ...new Set(
    runs
      .map(modelOfRun)
      .filter((model) => model.type === type)
      .flatMap((model) => model[name] ?? []),
  ),
];

/** The same for the fields of a model, with the providers that are configured, and models that only they have named. */
export function modelSuggestions(
  path: 'provider' | 'judge',
  { type, base_url, api_key_env }: Config,
  runs: readonly Run[],
  providers: readonly Provider[],
): Readonly<Record<string, readonly string[]>> {
  const origin = URL.canParse(String(base_url)) ? new URL(String(base_url)).origin : null;
  const asked = providers.filter(
    ({ name, origins }) =>
      (name !== null && name === api_key_env) || (origin !== null && origins.includes(origin)),
  );
  const known = (name: 'base_url' | 'model' | 'api_key_env') => valuesOf(runs, String(type), name);
  return {
    [`${path}.base_url`]: known('base_url'),
    [`${path}.model`]: [...new Set([...asked.flatMap(({ models }) => models), ...known('model')])],
    [`${path}.api_key_env`]: [
      ...new Set([...providers.flatMap(({ name }) => name ?? []), ...known('api_key_env')]),
    ],
  };
}

/** How long a result takes, by a run that is known. */
export interface Measured {
  readonly run: Run;
  /** Milliseconds for so many results, as many at a time as the new run asks for. */
  readonly msOf: (results: number) => number;
}

/** What a run does at a time unless it says so. */
const CONCURRENCY = 8;

/**
 * How long the results of a new run take, by the last run of the same model over the same dataset that asked no judge; null
 * without one.
 */
export function measuredOf(
  runs: readonly Run[],
  { dataset_id, config }: Pick<Run, 'dataset_id'> & { readonly config: object },
): Measured | null {
  const asked = modelOfRun({ config });
  const run = runs.find((one) => {
    const { base_url, model } = modelOfRun(one);
    const isSame = model !== undefined && model === asked.model && base_url === asked.base_url;
    const isWhole = one.source_run_id === null && one.reused_run_id === null && one.retries === 0;
    const hasEnded = one.started_at !== null && one.finished_at !== null && one.counts.ok > 0;
    return one.dataset_id === dataset_id && isSame && isWhole && hasEnded && !hasJudge(one.config);
  });
  if (run === undefined) return null;
  const { counts, started_at, finished_at } = run;
  const elapsedMs = Date.parse(finished_at ?? '') - Date.parse(started_at ?? '');
  const oneMs = (elapsedMs * atATime(run.config, counts.done)) / counts.done;
  return { run, msOf: (results) => (oneMs * results) / atATime(config, results) };
}

const atATime = (config: object, results: number): number =>
  Math.max(1, Math.min((config as { readonly concurrency?: number }).concurrency ?? CONCURRENCY, results));

function hasJudge(config: object): boolean {
  const { judge, scorers, added_scorers } = config as { readonly [name: string]: unknown };
  const judges = [scorers, added_scorers].flatMap((list) =>
    Array.isArray(list) ? list.map((one: { readonly judge?: unknown }) => one.judge) : [],
  );
  return [judge, ...judges].some((one) => one != null);
}

interface AskedModel {
  readonly type?: string;
  readonly base_url?: string;
  readonly model?: string;
  readonly api_key_env?: string;
}

/** The model that a run asks. */
function modelOfRun({ config }: { readonly config: object }): AskedModel {
  return (config as { readonly provider?: AskedModel }).provider ?? {};
}

export type Provider = ResponseOf<'/providers', 'get'>['data'][number];

/** The providers that the operator configured, and the servers and models of earlier runs. */
export function useProviders(): readonly Provider[] {
  const canEdit = useCan('editor');
  const found = useQuery({
    queryKey: ['providers'],
    queryFn: ({ signal }) => get('/providers', {}, signal),
    enabled: canEdit,
  });
  return found.data?.data ?? [];
}
