import type { Item } from '@svc/jsonl-v23';
import type { JsonValue } from '@svc/jsonl-v23/json';
import type { CheckOutcome } from '../src/checkers/checker.ts';
import type { ReasoningMode } from '../src/reading/scored-output.ts';
import { performCheck } from '../src/score-output.ts';
import type { Judge } from '../src/scoring/ask-judge.ts';
import { planCheck } from '../src/scoring/plan-check.ts';
import type { CheckRunner } from '../src/threads/check-runner.ts';

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
