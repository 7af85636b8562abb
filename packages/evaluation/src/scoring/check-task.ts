import type { Item } from '@svc/jsonl-v23';
import { canonicalJson, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { CheckOutcome } from '../checkers/checker.ts';
import { CHECKERS } from '../checkers/checkers.ts';
import { readCanonicalText } from '../item/canonical-text.ts';

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

/** Packs a value: classes such as `ExactNumber` do not survive the way between threads. */
export function packValue(value: JsonValue | undefined): PackedValue {
  if (value === undefined) return null;
  return typeof value === 'string' ? { text: value } : { json: canonicalJson(value) };
}

function unpackValue(packed: PackedValue): JsonValue | undefined {
  if (packed === null) return undefined;
  return 'text' in packed ? packed.text : readCanonicalText(packed.json);
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
