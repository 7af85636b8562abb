import type { TaskReply } from '@svc/concurrency';
import { checkerLimit } from '../check-limits.ts';
import type { CheckOutcome } from '../checkers/checker.ts';
import { RunError, type RunErrorCode } from '../run-error.ts';
import { type CheckTask, runCheck } from '../scoring/check-task.ts';
import { type PlannedScoring, type PlanTask, planScoring } from './plan-task.ts';
import { makeQuestion, type Question, type QuestionTask } from './question-task.ts';
import { type PackedRedacted, packRedacted, type RedactTask } from './redact-task.ts';
import { type PackedResponse, packResponse, type ResponseTask } from './response-task.ts';
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
