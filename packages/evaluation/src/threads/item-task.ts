import type { ItemParts } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { checkerLimit, MAX_CHECK_VALUES } from '../checkers/check-limits.ts';
import type { CheckOutcome } from '../checkers/checker.ts';
import { buildMessages } from '../item/build-messages.ts';
import { countValues, readCanonicalText } from '../item/canonical-text.ts';
import { itemIdText, MAX_INLINE_TEXT_CHARS, readLargeItem, textAt } from '../item/large-item.ts';
import { fieldMissing, lastMessageText } from '../item/output-source.ts';
import { JsonText, type OutputSource, type RunFailure } from '../ports.ts';
import { RunError } from '../run-error.ts';
import { type PackedValue, packValue, runCheck } from '../scoring/check-task.ts';
import { planCheck } from '../scoring/plan-check.ts';

/** To make of a large item what its provider needs, as it can be sent to a thread. */
export interface QuestionTask {
  readonly kind: 'question';
  readonly parts: ItemParts;
  readonly usesMessages: boolean;
  /** where the output stands in the item; null where somebody else is asked */
  readonly outputSource: OutputSource | null;
}

/** What a provider needs of a large item. */
export interface Question {
  /** JSON text; null where it has none */
  readonly itemId: string | null;
  /** why there is nothing to ask */
  readonly failure?: RunFailure;
  /** the conversation as JSON text in UTF-8; empty where the provider uses none */
  readonly messagesJson?: Uint8Array<ArrayBuffer>;
  /** the output itself, where it stands in the item */
  readonly output?: PackedValue;
}

/** To score an output of a large item, or a large output, as it can be sent to a thread. */
export interface ScoreTask {
  readonly kind: 'score';
  readonly parts: ItemParts;
  readonly output: PackedValue;
  /** the dataset's default judge prompts, where the run has a judge */
  readonly judge: { readonly defaultPrompts: PackedValue } | null;
}

/** A score, or what is to be asked of the judge: messages as JSON text in UTF-8. */
export type Scored =
  | { readonly outcome: CheckOutcome }
  | { readonly judgeMessagesJson: Uint8Array<ArrayBuffer> };

/** Does a task, wherever it is called. Throws only what is no fault of the item. */
export function makeQuestion({ parts, usesMessages, outputSource }: QuestionTask): Question {
  const itemId = itemIdText(parts);
  try {
    if (outputSource?.from === 'pointer') {
      const json = textAt(parts, outputSource.pointer);
      if (json === undefined) throw fieldMissing(outputSource.pointer);
      return { itemId, output: { json } };
    }
    if (!usesMessages) return { itemId, messagesJson: new Uint8Array() };
    const messages = buildMessages(readLargeItem(parts));
    if (outputSource !== null) return { itemId, output: { json: canonicalJson(lastMessageText(messages)) } };
    return { itemId, messagesJson: new TextEncoder().encode(canonicalJson(messages)) };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { itemId, failure: { code: error.code, message: error.message } };
  }
}

/**
 * Does a task, wherever it is called.
 *
 * @throws RunError `item_too_large`, `checker_invalid`, `checker_limit`
 */
export function scoreItem(task: ScoreTask): Scored {
  const item = readLargeItem(task.parts);
  const defaultPrompts = task.judge === null ? null : unpack(task.judge.defaultPrompts);
  const plan = planCheck({
    item,
    output: unpack(task.output),
    judge: task.judge === null ? null : { defaultPrompts },
  });
  if ('task' in plan) return { outcome: runCheck(plan.task) };
  if ('outcome' in plan) return plan;
  return { judgeMessagesJson: new TextEncoder().encode(canonicalJson([...plan.judgeMessages])) };
}

/** The output of a question; what is large stays text. */
export function readOutput(output: PackedValue): JsonValue | JsonText {
  if (output === null) return null;
  if ('text' in output) return output.text;
  return output.json.length > MAX_INLINE_TEXT_CHARS
    ? new JsonText(output.json)
    : readCanonicalText(output.json);
}

/** An output on its way to a thread. */
export function packOutput(output: JsonValue | JsonText): PackedValue {
  return output instanceof JsonText ? { json: output.json } : packValue(output);
}

function unpack(packed: PackedValue): JsonValue {
  if (packed === null) return null;
  if ('text' in packed) return packed.text;
  const { json } = packed;
  if (countValues(json, { start: 0, end: json.length }) > MAX_CHECK_VALUES) {
    throw checkerLimit(`The output must have at most ${MAX_CHECK_VALUES} values to be checked`);
  }
  return readCanonicalText(json);
}
