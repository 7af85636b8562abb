import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { MarkedFiles } from './assets/marked-files.ts';
import type { CheckOutcome } from './checkers/checker.ts';
import { askJudge, type Judge } from './scoring/ask-judge.ts';
import { planCheck } from './scoring/plan-check.ts';
import type { CheckRunner } from './threads/check-runner.ts';

/** An output to score, and what scores it. */
export interface ScoreRequest {
  /** The provider's output. */
  readonly output: JsonValue;
  readonly item: Item;
  /** Files whose marks the item contains. */
  readonly files?: MarkedFiles | undefined;
  /** Null if the run has no judge. */
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly signal: AbortSignal;
}

/**
 * Scores an output as {@link planCheck} chooses.
 *
 * @throws RunError `checker_invalid` for invalid options of the checker, `checker_limit` if the check would take too
 * much time or memory; the signal's reason when it is aborted
 */
export async function checkOutput(request: ScoreRequest): Promise<CheckOutcome> {
  const { judge, checks, files, signal } = request;
  const planned =
    judge === null
      ? null
      : {
          defaultPrompts: judge.defaultPrompts,
          wireFormat: judge.provider.wireFormat ?? ('chat_completions' as const),
        };
  const plan = planCheck({ ...request, judge: planned });
  if ('outcome' in plan) return plan.outcome;
  if ('task' in plan) return await checks.run(plan.task, signal);
  return await askJudge(judge, plan.judgeMessages, files, signal);
}
