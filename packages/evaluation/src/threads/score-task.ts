import type { ItemParts } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { checkerLimit, MAX_CHECK_VALUES } from '../check-limits.ts';
import type { CheckOutcome } from '../checkers/checker.ts';
import { countValues } from '../item/canonical-text.ts';
import { readLargeItem } from '../item/large-item.ts';
import { wireConversation } from '../item/wire-conversation.ts';
import type { WireFormat } from '../provider.ts';
import type { ReasoningMode } from '../reading/scored-output.ts';
import { runCheck } from '../scoring/check-task.ts';
import { type PackedValue, unpackValue } from '../scoring/packed-value.ts';
import { planCheck } from '../scoring/plan-check.ts';

/** Scores an output of a large item, or a large output. */
export interface ScoreTask {
  readonly kind: 'score';
  readonly parts: ItemParts;
  readonly output: PackedValue;
  readonly reasoning: ReasoningMode;
  /** Reasoning that came beside the output. */
  readonly thoughts: PackedValue;
  /** The dataset's default judge prompts, and how the judge is asked; null if the run has no judge. */
  readonly judge: { readonly defaultPrompts: PackedValue; readonly wireFormat: WireFormat } | null;
}

/** A score, or the conversation for the judge as JSON text in UTF-8, see `ProviderRequest`. */
export type Scored =
  | { readonly outcome: CheckOutcome }
  | {
      readonly question: {
        readonly messages: Uint8Array<ArrayBuffer>;
        readonly omittedAssets: readonly string[];
      };
    };

/**
 * Does the task on the current thread.
 *
 * @throws RunError `item_too_large`, `checker_invalid`, `checker_limit`
 */
export function scoreItem(task: ScoreTask): Scored {
  const item = readLargeItem(task.parts);
  const judge =
    task.judge === null ? null : { ...task.judge, defaultPrompts: unpack(task.judge.defaultPrompts) };
  const { reasoning } = task;
  const thoughts = unpack(task.thoughts);
  const plan = planCheck({
    ...{ item, output: unpack(task.output), reasoning, judge },
    thoughts: typeof thoughts === 'string' ? thoughts : null,
  });
  if ('task' in plan) return { outcome: runCheck(plan.task) };
  if ('outcome' in plan) return plan;
  const format = task.judge?.wireFormat ?? 'chat_completions';
  const { messages, omittedAssets } = plan.question;
  const conversation = canonicalJson(wireConversation(messages, format));
  return { question: { messages: new TextEncoder().encode(conversation), omittedAssets } };
}

function unpack(packed: PackedValue): JsonValue {
  if (packed !== null && 'json' in packed) {
    const { json } = packed;
    if (countValues(json, { start: 0, end: json.length }) > MAX_CHECK_VALUES) {
      throw checkerLimit(`The output must have at most ${MAX_CHECK_VALUES} values to be checked.`);
    }
  }
  return unpackValue(packed) ?? null;
}
