import type { Run } from '../../use-run.ts';
import type { ModelSuggestions } from '../run-fields.ts';
import type { Provider } from './use-providers.ts';

/** What recent runs of the same protocol had as address, model and name of the key. */
export function suggestionsOf(runs: readonly Run[], provider: string): Omit<ModelSuggestions, 'pointers'> {
  const models = runs.map(modelOfRun).filter(({ type }) => type === provider);
  const valuesOf = (name: 'base_url' | 'model' | 'api_key_env'): readonly string[] => [
    ...new Set(models.flatMap((model) => model[name] ?? [])),
  ];
  return { baseUrls: valuesOf('base_url'), models: valuesOf('model'), keyNames: valuesOf('api_key_env') };
}

/** The same with the providers that are configured, and models that only they have named. */
export function withProviders(
  { baseUrls, models, keyNames }: Omit<ModelSuggestions, 'pointers'>,
  providers: readonly Provider[],
  { baseUrl, apiKeyEnv }: { readonly baseUrl: string; readonly apiKeyEnv: string },
): Omit<ModelSuggestions, 'pointers'> {
  const origin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : null;
  const asked = providers.filter(
    ({ name, origins }) =>
      (name !== null && name === apiKeyEnv) || (origin !== null && origins.includes(origin)),
  );
  const names = providers.flatMap(({ name }) => name ?? []);
  return {
    baseUrls,
    models: [...new Set([...asked.flatMap((provider) => provider.models), ...models])],
    keyNames: [...new Set([...names, ...keyNames])],
  };
}

/** How long a result of a run of the same model took. */
export interface Measured {
  readonly run: Run;
  readonly ms: number;
}

/** How long a result took in the last run of a model; null without one. */
export function measuredOf(
  runs: readonly Run[],
  asked: { readonly base_url?: string; readonly model?: string },
): Measured | null {
  const run = runs.find(({ config, counts, finished_at, started_at, source_run_id }) => {
    const { base_url, model } = modelOfRun({ config });
    const isSame = model !== undefined && model === asked.model && base_url === asked.base_url;
    return isSame && counts.ok > 0 && finished_at !== null && started_at !== null && source_run_id === null;
  });
  if (run === undefined) return null;
  const { counts, started_at, finished_at } = run;
  const elapsedMs = Date.parse(finished_at ?? '') - Date.parse(started_at ?? '');
  return { run, ms: elapsedMs / counts.done };
}

interface AskedModel {
  readonly type?: string;
  readonly base_url?: string;
  readonly model?: string;
  readonly api_key_env?: string;
}

/** The model that a run asks. */
function modelOfRun({ config }: Pick<Run, 'config'>): AskedModel {
  return (config as { readonly provider?: AskedModel }).provider ?? {};
}
