import type { TaskReply } from '@svc/concurrency';
import { type ItemParts, type KnownSecrets, type Redacted, redactValue } from '@svc/jsonl-v23/internal';
import { canonicalJson, type JsonValue } from '@svc/jsonl-v23/json';
import { assetParts } from '../assets/asset-parts.ts';
import { checkerLimit, MAX_CHECK_VALUES } from '../check-limits.ts';
import type { CheckOutcome } from '../checkers/checker.ts';
import { buildMessages, fieldMissing, lastMessageText, promptsFor } from '../item/build-messages.ts';
import { countValues, textAt } from '../item/canonical-text.ts';
import { itemIdText, readLargeItem } from '../item/large-item.ts';
import type { RunPrompts } from '../item/prompt-template.ts';
import { type ResponseBody, readResponse } from '../item/read-response.ts';
import { wireConversation } from '../item/wire-conversation.ts';
import type { OutputSource, WireFormat } from '../provider.ts';
import type { ReasoningMode } from '../reading/scored-output.ts';
import { RunError, type RunErrorCode } from '../run-error.ts';
import { type CheckTask, runCheck } from '../scoring/check-task.ts';
import { type PackedValue, packOutput, unpackValue } from '../scoring/packed-value.ts';
import { planCheck } from '../scoring/plan-check.ts';
import { type PlannedScoring, type PlanTask, planScoring } from './plan-task.ts';

/** A task for a thread. */
export type ThreadTask = CheckTask | PlanTask | QuestionTask | RedactTask | ResponseTask | ScoreTask;

/** The result of a task, by the `kind` of the task. */
interface Outcomes {
  readonly check: CheckOutcome;
  readonly plan: PlannedScoring;
  readonly question: Question;
  readonly redact: PackedRedacted;
  readonly response: PackedResponse;
  readonly score: Scored;
}

/** The result of a task. */
export type ThreadOutcome<T extends ThreadTask> = Outcomes[T['kind']];

/** Why a task was refused. */
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
export function runTask(task: ThreadTask): ThreadOutcome<ThreadTask> {
  switch (task.kind) {
    case 'check':
      return runCheck(task);
    case 'plan':
      return planScoring(task);
    case 'question':
      return makeQuestion(task);
    case 'redact':
      return packRedacted(task);
    case 'response':
      return packResponse(task);
    case 'score':
      return scoreItem(task);
  }
}

/** The error of a task that exceeded a limit. */
export function taskLimit({ kind }: ThreadTask, reason: string): RunError {
  if (kind === 'question') return new RunError('item_too_large', `Reading the item ${reason}.`);
  if (kind === 'response') {
    return new RunError('provider_bad_response', `Reading the provider's response ${reason}.`);
  }
  if (kind === 'redact') return new RunError('checker_limit', `Looking for keys in the output ${reason}.`);
  return checkerLimit(`The check ${reason}.`);
}

/** The message with the result of a task. */
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
  if ('question' in outcome) return [outcome.question.messages.buffer];
  const isQuestion = 'conversationJson' in outcome && outcome.conversationJson !== undefined;
  return isQuestion ? [outcome.conversationJson.buffer] : [];
}

/** Replaces known secrets in a value. */
interface RedactTask {
  readonly kind: 'redact';
  readonly value: PackedValue;
  readonly secrets: KnownSecrets;
}

/** A value without known secrets on its way between threads; null if it had none. */
type PackedRedacted = Redacted<PackedValue> | null;

/** Does the task on the current thread. */
function packRedacted({ value, secrets }: RedactTask): PackedRedacted {
  const redacted = redactValue(unpackValue(value) ?? null, secrets);
  return redacted.count === 0 ? null : { ...redacted, value: packOutput(redacted.value) };
}

/** Reads the body of a provider's response. */
interface ResponseTask {
  readonly kind: 'response';
  readonly body: Uint8Array;
  readonly format: WireFormat;
  /** Characters that the caller needs of a text output, from its end; null for all. */
  readonly maxOutputChars: number | null;
}

/** A `ResponseBody` on its way between threads. */
interface PackedResponse extends Omit<ResponseBody, 'completion' | 'usage'> {
  readonly completion: {
    readonly output: PackedValue;
    readonly reasoning: PackedValue;
    readonly finishReason: string | null;
  } | null;
  readonly usage: PackedValue;
}

/** Does the task on the current thread. */
function packResponse({ body, format, maxOutputChars }: ResponseTask): PackedResponse {
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

/** Prepares a large item for its provider. */
interface QuestionTask {
  readonly kind: 'question';
  readonly parts: ItemParts;
  readonly usesMessages: boolean;
  readonly wireFormat: WireFormat;
  readonly prompts: RunPrompts;
  /** Where the item holds the output; null if a provider is asked for it. */
  readonly outputSource: OutputSource | null;
}

/** What a provider needs of a large item. */
interface Question {
  /** JSON text; null if the item has no id. */
  readonly itemId: string | null;
  /** Why the provider cannot be asked. */
  readonly failure?: { readonly code: RunErrorCode; readonly message: string };
  /** The conversation as JSON text in UTF-8, see `ProviderRequest`; empty if the provider uses none. */
  readonly conversationJson?: Uint8Array<ArrayBuffer>;
  /** The output itself, if the item holds it. */
  readonly output?: PackedValue;
  /** Names of the assets that the conversation lacks. */
  readonly omittedAssets?: readonly string[];
}

/** Does the task on the current thread. Errors of the item become its `failure`. */
function makeQuestion(task: QuestionTask): Question {
  const { parts, usesMessages, wireFormat, prompts, outputSource } = task;
  const itemId = itemIdText(parts);
  try {
    if (outputSource?.from === 'pointer') {
      const json = textAt(parts, outputSource.pointer);
      if (json === undefined) throw fieldMissing(outputSource.pointer);
      return { itemId, output: { json } };
    }
    if (!usesMessages) return { itemId, conversationJson: new Uint8Array() };
    const item = readLargeItem(parts);
    const messages = buildMessages(item, promptsFor(parts, prompts), wireFormat);
    if (outputSource !== null) return { itemId, output: { json: canonicalJson(lastMessageText(messages)) } };
    const conversation = canonicalJson(wireConversation(messages, wireFormat));
    const omittedAssets = assetParts(item, wireFormat).omitted;
    return { itemId, conversationJson: new TextEncoder().encode(conversation), omittedAssets };
  } catch (error) {
    if (!(error instanceof RunError)) throw error;
    return { itemId, failure: { code: error.code, message: error.message } };
  }
}

/** Scores an output of a large item, or a large output. */
interface ScoreTask {
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
function scoreItem(task: ScoreTask): Scored {
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
