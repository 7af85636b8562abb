import type { Item } from '@svc/jsonl-v23';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { JsonText } from '../item/canonical-text.ts';
import { RunError } from '../run-error.ts';

/** The input of a checker. */
export interface CheckRequest {
  /** The provider's output. */
  readonly output: JsonValue;
  /** On a thread: only the answer and the choices of the item. */
  readonly item: Item;
  /** The item's `checker` object; empty if the type of the item chose the checker. */
  readonly options: JsonObject;
}

/** The result of a checker. Only status `ok` has a score. */
export type CheckOutcome =
  | {
      readonly status: 'ok';
      readonly score: number;
      readonly passed: boolean;
      readonly explanation: string | null;
      /** Token counts of the judge, as its provider reported them; absent if another checker scored. */
      readonly judgeUsage?: JsonObject | JsonText | null;
    }
  | Unscored;

interface Unscored {
  readonly status: 'unscored';
  readonly score: null;
  readonly passed: null;
  readonly explanation: string;
  readonly judgeUsage?: null;
}

/**
 * Scores one output.
 *
 * @throws RunError `checker_invalid` for invalid options, `checker_limit` if the check would take too long
 */
export type Checker = (request: CheckRequest) => CheckOutcome;

/** An output that is right or wrong: score 1 or 0. */
export function passedOrNot(passed: boolean, explanation: string | null = null): CheckOutcome {
  return { status: 'ok', score: passed ? 1 : 0, passed, explanation };
}

/** What a result explains if its output has nothing to compare with the answer. */
export const UNREADABLE = {
  choice: 'The output picks none of the choices',
  json: 'The output is not JSON',
  number: 'No number in the output',
  reasoning: 'Only reasoning, no answer',
} as const;

/** An output that cannot be scored. */
export function unscored(explanation: string): Unscored {
  return { status: 'unscored', score: null, passed: null, explanation };
}

/** The reference answer of an item; undefined if it is absent, null or an empty string. */
export function referenceAnswer(item: Item): JsonValue | undefined {
  const answer = getMember(item, 'answer');
  return answer === null || answer === '' ? undefined : answer;
}

/** The outcome for an item without a reference answer. */
export const NO_ANSWER: Unscored = unscored('The item has no answer to compare with');

/**
 * A boolean option of a checker; `fallback` if it is absent or null.
 *
 * @throws RunError `checker_invalid`
 */
export function booleanOption(options: JsonObject, name: string, fallback: boolean): boolean {
  const value = getMember(options, name) ?? fallback;
  if (typeof value === 'boolean') return value;
  throw new RunError('checker_invalid', `checker.${name} must be true or false.`);
}

/**
 * A string option of a checker; undefined if it is absent or null.
 *
 * @throws RunError `checker_invalid`
 */
export function stringOption(options: JsonObject, name: string): string | undefined {
  const value = getMember(options, name) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new RunError('checker_invalid', `checker.${name} must be a string.`);
}

/** A JSON Schema for OpenAPI 3.1. `x-rule` says a `pattern` in words, for errors. */
export type ConfigSchema = Readonly<Record<string, unknown>>;

/** The schema of an option of a checker. */
export interface OptionSchema extends ConfigSchema {
  readonly type: readonly ['boolean' | 'number' | 'string', 'null'];
  readonly description: string;
}

/** Why the output of an item cannot be scored, whatever it is. */
export type UnscorableReason =
  | 'item_without_prompt'
  | 'no_checker'
  | 'no_answer'
  | 'no_choices'
  | 'unknown_answer'
  | 'no_judge'
  | 'unknown_checker'
  | 'invalid_pattern';

/** Decides what takes more than a few steps, once for all items with the same key. */
export type DecideOnce = (key: string, decide: () => UnscorableReason | null) => UnscorableReason | null;

/** What people and clients learn of a checker: OpenAPI, the console and docs/checkers.md follow from it. */
export interface CheckerDocs {
  /** `checker.type` of items and configurations. */
  readonly name: string;
  /** When an output passes, after the name: `the output equals the answer`. */
  readonly passes: string;
  /** A case in a few words: `“Paris” is right, “It is Paris” is not`. */
  readonly example: string;
  /** JSON Schemas of its options, by name, made with {@link option}. The checker itself validates them. */
  readonly options: Readonly<Record<string, OptionSchema>>;
}

/** A checker, declared once: its file has this, and `CHECKERS` a row. */
export interface CheckerDeclaration extends CheckerDocs {
  readonly check: Checker;
  /** Whether it takes a few steps per character, so that short outputs are checked on the calling thread. */
  readonly isCheap: boolean;
  /**
   * Why `check` would leave every output of an item unscored, or `invalid_pattern` if it would fail; null if outputs can
   * be scored.
   *
   * @throws RunError if `check` throws for every output
   */
  unscorableReason(item: Item, options: JsonObject, once: DecideOnce): UnscorableReason | null;
}

/** The schema of an option, which may be null. */
export function option(
  type: OptionSchema['type'][0],
  description: string,
  more: ConfigSchema = {},
): OptionSchema {
  return { type: [type, 'null'], description, ...more };
}

/** The option `ignore_case` of checkers that compare texts. */
export const IGNORE_CASE: OptionSchema = option('boolean', 'whether letters of either case are equal', {
  default: false,
});
