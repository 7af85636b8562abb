import {
  type CheckRunner,
  checkerOf,
  checkRunPattern,
  describePlan,
  type RunConfig,
  type RunPlan,
  type RunWarning,
  scoringFacts,
  withoutInvalidPatterns,
  withoutUnusableAnswers,
} from '@svc/evaluation';
import type { Store } from '@svc/store';
import { defaultJudgePrompts } from './run/default-judge-prompts.ts';

export interface PlanRunRequest {
  readonly datasetId: string;
  /** Number of the version. */
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
  /** Compiles patterns, which are untrusted, on a thread. */
  readonly checks: Pick<CheckRunner, 'run'>;
}

/**
 * Plans a run: pattern of its checker → dataset → what scores its items → counts → patterns and answers of items → plan and warnings.
 * The database counts; nothing is stored.
 *
 * @throws RunError `invalid_request` for a pattern that cannot be used, `nothing_to_score`; StoreError `dataset_not_found`
 */
export async function planRun(
  { store, checks }: PlanRunDeps,
  { datasetId, version, config, checkerPath, isRescore = false, signal }: PlanRunRequest,
): Promise<{ readonly plan: RunPlan; readonly warnings: readonly RunWarning[] }> {
  await checkRunPattern(checkerOf(config), checkerPath, checks, signal);
  const { schema } = await store.datasets.get(datasetId, { version });
  const scoring = scoringFacts(config, config.judge === undefined ? null : defaultJudgePrompts(schema));
  const found = await store.runs.plan({
    ...{ datasetId, version, scoring, signal },
    selection: config.select ?? null,
  });
  const usable = await withoutUnusableAnswers(found.counts, found.answers, checks, signal);
  const counts = await withoutInvalidPatterns(usable, found.patterns, checks, signal);
  const { type } = config.provider;
  const asksProvider = !isRescore && (type === 'openai_compatible' || type === 'anthropic');
  return describePlan(config, counts, asksProvider);
}
