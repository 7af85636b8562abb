import type { ItemParts } from '@svc/jsonl-v23';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { type KnownSecrets, type Redacted, redactValue } from '@svc/jsonl-v23/secrets';
import type { TaskReply } from '../../concurrency/index.ts';
import { assetParts } from '../assets/asset-parts.ts';
import { checkerLimit, MAX_CHECK_VALUES } from '../check-limits.ts';
import { buildMessages, fieldMissing, lastMessageText, promptsFor } from '../item/build-messages.ts';
import { countValues, textAt } from '../item/canonical-text.ts';
import { itemIdText, readItem } from '../item/large-item.ts';
import type { RunPrompts } from '../item/prompt-template.ts';
import { readResponse } from '../item/read-response.ts';
import { type Conversation, conversationOf } from '../item/wire-conversation.ts';
import type { OutputSource, WireFormat } from '../provider.ts';
import type { ReasoningMode } from '../reading/scored-output.ts';
import { RunError, type RunErrorCode } from '../run-error.ts';
import { type PackedValue, packOutput, unpackValue } from '../scoring/packed-value.ts';
import { type CheckPlan, planCheck, runCheck } from '../scoring/plan-check.ts';
import { planScoring } from './plan-task.ts';

const TASKS = {
  check: runCheck,
  plan: planScoring,
  question: makeQuestion,
  redact: packRedacted,
  response: packResponse,
  score: scoreItem,
};

type Tasks = typeof TASKS;
export type ThreadTask = Parameters<Tasks[keyof Tasks]>[0];
export type ThreadOutcome<T extends ThreadTask> = ReturnType<Tasks[T['kind']]>;

export interface TaskFailure {
  readonly code: RunErrorCode;
  readonly message: string;
}

type Reply = TaskReply<ThreadOutcome<ThreadTask>, TaskFailure>;

/**
 * Does a task on the current thread.
 *
 * @throws RunError `checker_invalid`, `checker_limit`, `item_too_large`
 */
export function runTask<T extends ThreadTask>(task: T): ThreadOutcome<T> {
  return (TASKS[task.kind] as (task: T) => unknown)(task) as ThreadOutcome<T>;
}

export function taskLimit({ kind }: ThreadTask, reason: string): RunError {
  if (kind === 'question') return new RunError('item_too_large', `Reading the item ${reason}.`);
  if (kind === 'response') {
    return new RunError('provider_bad_response', `Reading the provider's response ${reason}.`);
  }
  if (kind === 'redact') return new RunError('checker_limit', `Looking for keys in the output ${reason}.`);
  return checkerLimit(`The check ${reason}.`);
}

export function replyTo(task: ThreadTask): Reply {
  try {
    return { kind: 'outcome', outcome: runTask(task) };
  } catch (error) {
    if (error instanceof RunError) {
      return { kind: 'failed', failure: { code: error.code, message: error.message } };
    }
    // A text that is too long for the engine, or too deep a recursion.
    if (error instanceof RangeError) {
      const { code, message } = taskLimit(task, 'took too much memory');
      return { kind: 'failed', failure: { code, message } };
    }
    return { kind: 'fault', error };
  }
}

/** The bytes of a reply, which move to the other thread instead of being copied. */
export function transferredBytes(reply: Reply): ArrayBuffer[] {
  if (reply.kind !== 'outcome') return [];
  const { outcome } = reply;
  if (outcome === null) return [];
  const question = 'asked' in outcome ? outcome.asked : 'question' in outcome ? outcome.question : null;
  return question !== null && 'conversationJson' in question ? [question.conversationJson.buffer] : [];
}

interface RedactTask {
  readonly kind: 'redact';
  readonly value: PackedValue;
  readonly secrets: KnownSecrets;
}

/** The value without known secrets; null if it has none. */
function packRedacted({ value, secrets }: RedactTask): Redacted<PackedValue> | null {
  const redacted = redactValue(unpackValue(value) ?? null, secrets);
  return redacted.count === 0 ? null : { ...redacted, value: packOutput(redacted.value) };
}

interface ResponseTask {
  readonly kind: 'response';
  readonly body: Uint8Array;
  readonly format: WireFormat;
  /** Characters that the caller needs of a text output, from its end; null for all. */
  readonly maxOutputChars: number | null;
}

function packResponse({ body, format, maxOutputChars }: ResponseTask) {
  const { completion, usage, ...facts } = readResponse(body, format);
  const packed = { ...facts, usage: usage === null ? null : { json: canonicalJson(usage) } };
  if (completion === null) return { ...packed, completion };
  const { output, reasoning, finishReason } = completion;
  const needed =
    typeof output === 'string' && maxOutputChars !== null ? output.slice(-maxOutputChars) : output;
  const texts = {
    output: packOutput(needed),
    reasoning: reasoning === null ? null : packOutput(reasoning),
  };
  return { ...packed, completion: { ...texts, finishReason } };
}

interface QuestionTask {
  readonly kind: 'question';
  readonly parts: ItemParts;
  readonly usesMessages: boolean;
  readonly wireFormat: WireFormat;
  readonly prompts: RunPrompts;
  /** Where the item holds the output; null if a provider is asked for it. */
  readonly outputSource: OutputSource | null;
}

interface Question {
  /** JSON text; null if the item has no id. */
  readonly itemId: string | null;
  /** Names of the assets that the conversation lacks; null if the provider uses none. */
  readonly omittedAssets: readonly string[] | null;
  /** The conversation; the output itself, if the item holds it; or why the provider cannot be asked. */
  readonly asked: Conversation | { readonly output: PackedValue } | { readonly failure: TaskFailure };
}

function makeQuestion({ parts, usesMessages, wireFormat, prompts, outputSource }: QuestionTask): Question {
  const itemId = itemIdText(parts);
  let omittedAssets: readonly string[] | null = null;
  try {
    if (outputSource?.from === 'pointer') {
      const json = textAt(parts, outputSource.pointer);
      if (json === undefined) throw fieldMissing(outputSource.pointer);
      return { itemId, omittedAssets, asked: { output: { json } } };
    }
    if (!usesMessages) return { itemId, omittedAssets, asked: { conversationJson: new Uint8Array() } };
    const item = readItem(parts);
    omittedAssets = assetParts(item, wireFormat).omitted;
    const messages = buildMessages(item, promptsFor(parts, prompts), wireFormat);
    const asked =
      outputSource === null
        ? conversationOf(messages, wireFormat)
        : { output: packOutput(lastMessageText(messages)) };
    return { itemId, omittedAssets, asked };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { itemId, omittedAssets, asked: { failure: { code: error.code, message: error.message } } };
  }
}

interface ScoreTask {
  readonly kind: 'score';
  readonly parts: ItemParts;
  readonly output: PackedValue;
  readonly reasoning: ReasoningMode;
  readonly thoughts: PackedValue;
  /** The dataset's default judge prompts, and how the judge is asked; null if the run has no judge. */
  readonly judge: { readonly defaultPrompts: PackedValue; readonly wireFormat: WireFormat } | null;
}

function scoreItem({ parts, reasoning, ...task }: ScoreTask): Exclude<CheckPlan, { readonly task: unknown }> {
  const judge = task.judge && { ...task.judge, defaultPrompts: unpack(task.judge.defaultPrompts) };
  const thoughts = unpack(task.thoughts);
  const plan = planCheck({
    ...{ item: readItem(parts), output: unpack(task.output), reasoning, judge },
    thoughts: typeof thoughts === 'string' ? thoughts : null,
  });
  return 'task' in plan ? { outcome: runCheck(plan.task) } : plan;
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
