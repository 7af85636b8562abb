import { checkerLimit } from '../checkers/check-limits.ts';
import type { CheckOutcome } from '../checkers/checker.ts';
import { RunError, type RunErrorCode } from '../run-error.ts';
import { type CheckTask, runCheck } from '../scoring/check-task.ts';
import {
  makeQuestion,
  type Question,
  type QuestionTask,
  type Scored,
  type ScoreTask,
  scoreItem,
} from './item-task.ts';

/** What a thread can be asked. */
export type ThreadTask = CheckTask | QuestionTask | ScoreTask;

/** What becomes of a task. */
export type ThreadOutcome<T extends ThreadTask> = T extends QuestionTask
  ? Question
  : T extends ScoreTask
    ? Scored
    : CheckOutcome;

/** What a thread sends: first that it is ready, then the end of each task. */
export type ThreadReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcome'; readonly outcome: ThreadOutcome<ThreadTask> }
  | { readonly kind: 'refused'; readonly code: RunErrorCode; readonly message: string }
  | { readonly kind: 'fault'; readonly error: unknown };

/**
 * Does a task, wherever it is called.
 *
 * @throws RunError `checker_invalid`, `checker_limit`, `item_too_large`
 */
export function runTask(task: ThreadTask): ThreadOutcome<ThreadTask> {
  if (!('kind' in task)) return runCheck(task);
  return task.kind === 'question' ? makeQuestion(task) : scoreItem(task);
}

/** The error of a task that exceeded a limit. */
export function taskLimit(task: ThreadTask, reason: string): RunError {
  return 'kind' in task && task.kind === 'question'
    ? new RunError('item_too_large', `Reading the item ${reason}`)
    : checkerLimit(`The check ${reason}`);
}

/** The end of a task, as a thread sends it. */
export function replyTo(task: ThreadTask): ThreadReply {
  try {
    return { kind: 'outcome', outcome: runTask(task) };
  } catch (error) {
    if (error instanceof RunError) return { kind: 'refused', code: error.code, message: error.message };
    // a text beyond what the engine can hold, or too deep a recursion
    if (error instanceof RangeError) {
      const { code, message } = taskLimit(task, 'took too much memory');
      return { kind: 'refused', code, message };
    }
    return { kind: 'fault', error };
  }
}

/** The bytes of a reply, which change their thread instead of being copied. */
export function transferredBytes(reply: ThreadReply): ArrayBuffer[] {
  if (reply.kind !== 'outcome') return [];
  const { outcome } = reply;
  if ('judgeMessagesJson' in outcome) return [outcome.judgeMessagesJson.buffer];
  return 'messagesJson' in outcome && outcome.messagesJson !== undefined ? [outcome.messagesJson.buffer] : [];
}
