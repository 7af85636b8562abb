import type { ItemParts, ScorerScore } from '@svc/jsonl-v23/internal';
import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type RunConfig, type ScorerPlan, scorersOf } from './config/run-config.ts';
import { isLargeItem, readItem, readLargeItem, withChecker } from './item/large-item.ts';
import type { ReasoningMode } from './reading/scored-output.ts';
import { RunError } from './run-error.ts';
import { runCheck } from './scoring/check-task.ts';
import { type CheckPlan, planCheck } from './scoring/plan-check.ts';

/** What a stored configuration says of scoring. */
export interface StoredScoring {
  readonly plans: readonly ScorerPlan[];
  readonly reasoning: ReasoningMode;
  /** Whether clients sent the results. */
  readonly isExternal: boolean;
}

/** Scorers of each kind. */
const MAX_SCORERS = 16;

/** Reads it without checking the rest; null for a configuration of another tool. */
export function storedScoring(config: JsonObject): StoredScoring | null {
  const { provider = null, judge, reasoning, scorers = [], added_scorers: added = [] } = config;
  const isObject = (value: JsonValue | undefined): boolean => value === undefined || isJsonObject(value);
  const areScorers = [scorers, added].every(
    (list) =>
      Array.isArray(list) &&
      list.length <= MAX_SCORERS &&
      list.every((one) => isJsonObject(one) && typeof one['name'] === 'string' && isObject(one['judge'])),
  );
  const type = isJsonObject(provider) ? provider['type'] : undefined;
  if (!areScorers || !isObject(judge) || typeof type !== 'string') return null;
  return {
    plans: scorersOf(config as unknown as RunConfig),
    reasoning: reasoning === 'score' ? 'score' : 'strip',
    isExternal: type === 'external',
  };
}

/** A stored output, and what it is scored with. */
export interface StoredCheck {
  readonly parts: ItemParts;
  readonly output: JsonValue;
  /** Reasoning that came beside it; null without any. */
  readonly thoughts: string | null;
  readonly reasoning: ReasoningMode;
  /** The dataset's default prompts; null without them. */
  readonly defaultPrompts: JsonValue;
}

/**
 * What a scorer says of a stored output, as {@link scoreOutput} does, on the calling thread and without a judge.
 *
 * @returns null if the judge decides
 */
export function recheckOutput(
  { parts, output, thoughts, reasoning, defaultPrompts }: StoredCheck,
  { checker, judge }: Pick<ScorerPlan, 'checker' | 'judge'>,
): ScorerScore | null {
  try {
    const checked = withChecker(parts, checker);
    const item = isLargeItem(checked) ? readLargeItem(checked) : readItem(checked);
    let plan: CheckPlan;
    try {
      const beside = judge === null ? null : thoughts;
      plan = planCheck({ output, item, reasoning, thoughts: beside, judge: judge && { defaultPrompts } });
    } catch (error) {
      if (judge !== null && error instanceof RunError) return null;
      throw error;
    }
    if ('question' in plan) return null;
    const { status, score, passed, explanation } = 'task' in plan ? runCheck(plan.task) : plan.outcome;
    return { score, passed, explanation, scored_by: status === 'ok' ? 'checker' : null };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    const { code, message } = error;
    return { score: null, passed: null, explanation: null, scored_by: null, error: { code, message } };
  }
}
