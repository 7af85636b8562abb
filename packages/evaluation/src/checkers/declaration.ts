import type { Item } from '@svc/jsonl-v23';
import type { JsonObject } from '@svc/jsonl-v23/json';
import type { Checker } from './checker.ts';

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
