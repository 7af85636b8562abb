import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ProviderKeys } from '../config/provider-keys.ts';
import {
  asksTheSame,
  type CheckRunner,
  checkRunPattern,
  countScoring,
  describePlan,
  estimateRun,
  type ModelConfig,
  modelOf,
  type PlannedRequests,
  parseStoredRunConfig,
  promptsOf,
  type RunConfig,
  type RunSelection,
  type RunWarning,
  scorersOf,
} from '../evaluation/index.ts';
import { type Run, readStoredJson, type Store, StoreError } from '../store/index.ts';

export interface PlanRunRequest {
  readonly datasetId: string;
  readonly version: number;
  readonly config: RunConfig;
  /** JSON Pointer of the checker in the request, for errors. */
  readonly checkerPath: string;
  /** Whether stored outputs are scored again, so that no provider is asked. */
  readonly isRescore?: boolean;
  readonly signal: AbortSignal;
}

export interface PlanRunDeps {
  readonly store: Pick<Store, 'datasets' | 'runs'>;
  /** Tries answers and patterns, which are untrusted, and reads large items, on a thread. */
  readonly checks: Pick<CheckRunner, 'run'>;
  readonly providerKeys: ProviderKeys;
}

export type PlannedRun = Awaited<ReturnType<typeof planRun>>;

/** Items whose prompts serve to estimate all prompts. */
const SAMPLE_ITEMS = 20;

/**
 * Plans a run: pattern of its checker → dataset → what scores its items → counts, by the checkers themselves → what
 * earlier runs say about its requests → plan and warnings. Nothing is stored.
 *
 * @throws RunError `invalid_request` for a pattern that cannot be used, `nothing_to_score`; StoreError
 * `dataset_not_found`; `run_not_found`, `run_active` for the run to reuse
 */
export async function planRun(
  { store, checks, providerKeys }: PlanRunDeps,
  { datasetId, version, config, checkerPath, isRescore = false, signal }: PlanRunRequest,
) {
  const scorers = scorersOf(config);
  for (const [index, { checker }] of scorers.entries()) {
    const at =
      config.scorers === undefined
        ? checkerPath
        : checkerPath.replace(/checker$/, `scorers/${index}/checker`);
    await checkRunPattern(checker, at, checks, signal);
  }
  const [main] = scorers;
  const { schema } = await store.datasets.get(datasetId, { version });
  const asked = isRescore ? null : modelOf(config);
  const latest =
    asked === null
      ? null
      : await store.runs.findLatest({
          ...{ datasetId, model: asked.model.model },
          origin: new URL(asked.model.base_url).origin,
        });
  const earlier = asked === null ? null : await earlierRun(config, latest, store);
  const items = { datasetId, version, selection: config.select ?? null, signal };
  const scoring = {
    checker: main.checker,
    judge: main.judge && { defaultPrompts: defaultJudgePrompts(schema) },
    prompts: isRescore || !asksOf(config) ? null : promptsOf(config),
  };
  const counts = await countScoring(store.runs.readDeciding(items), scoring, checks, signal);
  let reused: number | null = null;
  if (config.reuse !== undefined) {
    const isSame =
      earlier !== null && asksTheSame(config, parseStoredRunConfig(readStoredJson(earlier.config)));
    reused = isSame
      ? await store.runs.countReusable({
          ...{ ...items, runId: earlier.id, repetitions: config.repetitions },
          asksMore: config.prompt_template !== undefined,
        })
      : 0;
  }
  let requests: PlannedRequests | null = null;
  if (asked !== null) {
    const selection = sampleOf(config.select, SAMPLE_ITEMS);
    const facts = {
      sample: await store.runs.sample({ datasetId, version, selection, signal }),
      requests: counts.items * config.repetitions - (reused ?? 0),
      meanOutputTokens: latest === null ? null : meanOutputTokens(latest),
    };
    requests = { reused, estimate: await estimateRun(config, facts, checks, signal) };
  }
  const { plan, warnings } = describePlan(config, counts, requests);
  const models = [asked?.model, ...scorers.map(({ judge }) => judge)];
  return {
    plan,
    warnings: [...warnings, ...unknownKeys(models, providerKeys)],
    /** The run whose outputs it takes; null for none. */
    reusedRunId: earlier?.id ?? null,
  };
}

/** A warning for each key that models name and this process does not have; a worker elsewhere may. */
function unknownKeys(
  models: readonly (ModelConfig | null | undefined)[],
  keys: ProviderKeys,
): readonly RunWarning[] {
  const named = new Set(models.map((model) => model?.api_key_env));
  const unknown = [...named].filter((name) => name != null && !Object.hasOwn(keys, name));
  return unknown.map((name) => ({
    code: 'unknown_key',
    message: `The API has no key ${name}: the run fails unless its worker has it.`,
  }));
}

const asksOf = ({ provider }: RunConfig): boolean =>
  provider.type !== 'item_field' && provider.type !== 'external';

async function earlierRun(
  { reuse }: RunConfig,
  latest: Run | null,
  store: Pick<Store, 'runs'>,
): Promise<Run | null> {
  if (reuse === undefined) return null;
  if (reuse.run_id === 'latest') return latest;
  const run = await store.runs.get(reuse.run_id);
  if (run.finishedAt !== null) return run;
  throw new StoreError('run_active', `Cannot reuse the outputs of run ${run.id}: it has not ended.`);
}

export function sampleOf(selection: RunSelection | undefined, count: number): RunSelection {
  const { seed = 0, n = count } = selection?.sample ?? {};
  return { ...selection, sample: { seed, n: Math.min(n, count) } };
}

/** Mean over the results that the provider generated; null without a number. */
function meanOutputTokens({ counts, usage }: Run): number | null {
  const asked = counts.ok + counts.unscored - counts.reused;
  return asked <= 0 || usage.outputTokens === 0 ? null : usage.outputTokens / asked;
}

/** `default_judge_prompts` of the package that a dataset came from; null without them. @param schema of the dataset */
export function defaultJudgePrompts(schema: string): JsonValue {
  let value: JsonValue | undefined = readStoredJson(schema);
  for (const key of ['package', 'meta', 'default_judge_prompts']) {
    value = isJsonObject(value) ? getMember(value, key) : undefined;
  }
  return value ?? null;
}
