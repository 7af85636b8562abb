import { describePlan, type RunConfig, type RunPlan, type RunWarning, scoringFacts } from '@svc/evaluation';
import type { Store } from '@svc/store';
import { defaultJudgePrompts } from './run/default-judge-prompts.ts';

export interface PlanRunRequest {
  readonly datasetId: string;
  readonly config: RunConfig;
  /** Whether stored outputs are scored again, so that no provider is asked. */
  readonly isRescore?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Plans a run: dataset → what scores its items → counts → plan and warnings. The database counts; nothing is stored.
 *
 * @throws RunError `nothing_to_score`; StoreError `dataset_not_found`
 */
export async function planRun(
  store: Pick<Store, 'datasets' | 'runs'>,
  { datasetId, config, isRescore = false, signal }: PlanRunRequest,
): Promise<{ readonly plan: RunPlan; readonly warnings: readonly RunWarning[] }> {
  const { schema } = await store.datasets.get(datasetId);
  const scoring = scoringFacts(config, config.judge === null ? null : defaultJudgePrompts(schema));
  const counts = await store.runs.plan({ datasetId, selection: config.select, scoring, signal });
  const { type } = config.provider;
  const asksProvider = !isRescore && (type === 'openai_compatible' || type === 'anthropic');
  return describePlan(config, counts, asksProvider);
}
