import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { CheckOutcome } from '../../src/evaluation/checkers/checker.ts';
import type { ReasoningMode } from '../../src/evaluation/reading/scored-output.ts';
import { performCheck } from '../../src/evaluation/score-output.ts';
import type { Judge } from '../../src/evaluation/scoring/ask-judge.ts';
import { planCheck } from '../../src/evaluation/scoring/plan-check.ts';
import type { CheckRunner } from '../../src/evaluation/threads/check-runner.ts';

/** Scores an output as `runItem` does for an item that is not large. */
export async function checkOutput({
  judge,
  checks,
  signal,
  ...stated
}: {
  readonly output: JsonValue;
  readonly item: Item;
  readonly judge: Judge | null;
  readonly checks: CheckRunner;
  readonly signal: AbortSignal;
  readonly reasoning?: ReasoningMode;
  readonly thoughts?: string | null;
}): Promise<CheckOutcome> {
  const asked = judge && {
    defaultPrompts: judge.defaultPrompts,
    wireFormat: judge.provider.wireFormat ?? ('chat_completions' as const),
  };
  const plan = planCheck({ reasoning: 'strip', thoughts: null, ...stated, judge: asked });
  return await performCheck(plan, { judge, checks }, signal);
}
