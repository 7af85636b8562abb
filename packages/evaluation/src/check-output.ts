import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { MarkedFiles } from './assets/marked-files.ts';
import type { CheckOutcome } from './checkers/checker.ts';
import type { ReasoningMode } from './reading/scored-output.ts';
import { askJudge, type Judge } from './scoring/ask-judge.ts';
import { type CheckPlan, planCheck } from './scoring/plan-check.ts';
import type { CheckRunner } from './threads/check-runner.ts';
import type { Scored } from './threads/thread-task.ts';

/** An output to score, and what scores it. */
export interface ScoreRequest {
  /** The provider's output. */
  readonly output: JsonValue;
  readonly item: Item;
  /** What of the output is scored. */
  readonly reasoning: ReasoningMode;
  /** Reasoning that came beside the output; null without any. */
  readonly thoughts: string | null;
  /** Files whose marks the item contains. */
  readonly files?: MarkedFiles | undefined;
  /** Null if the run has no judge. */
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly signal: AbortSignal;
}

/** How an output is scored, see {@link planCheck}. A question about a large item is JSON text, see `ProviderRequest`. */
export type ScorePlan = CheckPlan | Scored;

/** Chooses how an output is scored. @throws RunError like {@link planCheck} */
export function planOutput({
  output,
  item,
  reasoning,
  thoughts,
  judge,
}: Pick<ScoreRequest, 'output' | 'item' | 'reasoning' | 'thoughts' | 'judge'>): CheckPlan {
  const planned =
    judge === null
      ? null
      : {
          defaultPrompts: judge.defaultPrompts,
          wireFormat: judge.provider.wireFormat ?? ('chat_completions' as const),
        };
  return planCheck({ output, item, reasoning, thoughts, judge: planned });
}

/**
 * Runs the check, or asks the judge.
 *
 * @throws RunError `checker_invalid` for invalid options of the checker, `checker_limit` if the check would take too
 * much time or memory; the signal's reason when it is aborted
 */
export async function performCheck(
  plan: ScorePlan,
  { judge, checks, files, signal }: Pick<ScoreRequest, 'judge' | 'checks' | 'files' | 'signal'>,
): Promise<CheckOutcome> {
  if ('outcome' in plan) return plan.outcome;
  if ('task' in plan) return await checks.run(plan.task, signal);
  return await askJudge(judge, plan.question.messages, files, signal);
}
