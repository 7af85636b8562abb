import type { Item } from '@svc/jsonl-v23';
import { isJsonObject } from '@svc/jsonl-v23/json';
import { type CheckOutcome, passedOrNot, UNREADABLE } from '../checkers/checker.ts';
import { CHECKERS } from '../checkers/checkers.ts';
import { type PackedValue, unpackValue } from './packed-value.ts';

export interface CheckTask {
  readonly kind: 'check';
  readonly type: string;
  /** Approximate number of characters of all values together. */
  readonly chars: number;
  readonly output: PackedValue;
  /** Whether the output ends in its reasoning, so that nothing is scored: it fails. Default: false. */
  readonly isOnlyReasoning?: boolean;
  readonly answer: PackedValue;
  readonly choices: PackedValue;
  readonly options: PackedValue;
}

/**
 * Does the task on the current thread.
 *
 * @throws RunError `checker_invalid`, `checker_limit`
 */
export function runCheck(task: CheckTask): CheckOutcome {
  const checker = CHECKERS.get(task.type);
  if (checker === undefined) throw new Error(`Unknown checker ${task.type}.`);
  const answer = unpackValue(task.answer);
  const choices = unpackValue(task.choices);
  const options = unpackValue(task.options);
  // The parts of a checked item have its types.
  const item = {
    ...(answer === undefined ? {} : { answer }),
    ...(choices === undefined ? {} : { inputs: { choices } }),
  } as Item;
  const outcome = checker.check({
    output: unpackValue(task.output) ?? null,
    item,
    options: isJsonObject(options) ? options : {},
  });
  return task.isOnlyReasoning && outcome.status === 'ok' ? passedOrNot(false, UNREADABLE.reasoning) : outcome;
}
