import { canonicalJson, type Item, isJsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23';
import { RunError, type RunErrorCode } from '../run-error.ts';
import type { CheckOutcome } from './checker.ts';
import { CHECKERS } from './checkers.ts';

/** A JSON value on its way to a thread: a text as it is, anything else as JSON text; null where there is none. */
export type PackedValue = { readonly text: string } | { readonly json: string } | null;

/** One check, as it can be sent to a thread. */
export interface CheckTask {
  /** key of `CHECKERS` */
  readonly type: string;
  /** about the characters of all its values together */
  readonly chars: number;
  readonly output: PackedValue;
  readonly answer: PackedValue;
  readonly choices: PackedValue;
  /** an object */
  readonly options: PackedValue;
}

/** What a thread sends: first that it is ready, then the end of each check. */
export type CheckReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'outcome'; readonly outcome: CheckOutcome }
  | { readonly kind: 'refused'; readonly code: RunErrorCode; readonly message: string }
  | { readonly kind: 'fault'; readonly error: unknown };

/** Packs a value: classes such as `ExactNumber` do not survive the way between threads. */
export function packValue(value: JsonValue | undefined): PackedValue {
  if (value === undefined) return null;
  return typeof value === 'string' ? { text: value } : { json: canonicalJson(value) };
}

function unpackValue(packed: PackedValue): JsonValue | undefined {
  if (packed === null) return undefined;
  return 'text' in packed ? packed.text : parseJson(packed.json);
}

/**
 * Does a check, wherever it is called.
 *
 * @throws RunError `checker_invalid`, `checker_limit`
 */
export function runCheck(task: CheckTask): CheckOutcome {
  const checker = CHECKERS[task.type];
  if (checker === undefined) throw new Error(`There is no checker ${task.type}`);
  const answer = unpackValue(task.answer);
  const choices = unpackValue(task.choices);
  const options = unpackValue(task.options);
  const item: Item = {
    ...(answer === undefined ? {} : { answer }),
    ...(choices === undefined ? {} : { inputs: { choices } }),
  };
  return checker({
    output: unpackValue(task.output) ?? null,
    item,
    options: isJsonObject(options) ? options : {},
  });
}

/** The end of a check, as a thread sends it. */
export function replyTo(task: CheckTask): CheckReply {
  try {
    return { kind: 'outcome', outcome: runCheck(task) };
  } catch (error) {
    if (error instanceof RunError) return { kind: 'refused', code: error.code, message: error.message };
    // a text beyond what the engine can hold, or too deep a recursion
    if (error instanceof RangeError) {
      return { kind: 'refused', code: 'checker_limit', message: 'The check took too much memory' };
    }
    return { kind: 'fault', error };
  }
}
