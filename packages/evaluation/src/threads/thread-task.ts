import type { TaskReply } from '@svc/concurrency';
import { type KnownSecrets, type Redacted, redactValue } from '@svc/jsonl-v23/internal';
import { canonicalJson } from '@svc/jsonl-v23/json';
import { checkerLimit } from '../check-limits.ts';
import type { CheckOutcome } from '../checkers/checker.ts';
import { type ResponseBody, readResponse } from '../item/read-response.ts';
import type { WireFormat } from '../provider.ts';
import { RunError, type RunErrorCode } from '../run-error.ts';
import { type CheckTask, runCheck } from '../scoring/check-task.ts';
import { type PackedValue, packOutput, unpackValue } from '../scoring/packed-value.ts';
import { type PlannedScoring, type PlanTask, planScoring } from './plan-task.ts';
import { makeQuestion, type Question, type QuestionTask } from './question-task.ts';
import { type Scored, type ScoreTask, scoreItem } from './score-task.ts';

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
