import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { CheckOutcome, Judge } from '../checkers/checker.ts';
import type { CheckRunner } from '../threads/check-runner.ts';
import { askJudge } from './judge.ts';
import { planCheck } from './plan-check.ts';

/** An output to score, and what it is scored with. */
export interface ScoreRequest {
  /** what the provider gave */
  readonly output: JsonValue;
  readonly item: Item;
  /** null where the run has none */
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly signal: AbortSignal;
}

/**
 * Scores an output as {@link planCheck} chooses.
 *
 * @throws RunError `checker_invalid` when the checker's options cannot be used, `checker_limit` when the check would
 * take too long or too much memory; the signal's reason when it was aborted
 */
export async function checkOutput(request: ScoreRequest): Promise<CheckOutcome> {
  const { judge, checks, signal } = request;
  const plan = planCheck(request);
  if ('outcome' in plan) return plan.outcome;
  if ('task' in plan) return await checks.run(plan.task, signal);
  return await askJudge(judge, plan.judgeMessages, signal);
}
