import type { Item } from '@svc/jsonl-v23';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { JsonText } from '../item/canonical-text.ts';
import { RunError } from '../run-error.ts';

export interface CheckRequest {
  readonly output: JsonValue;
  /** On a thread: only the answer and the choices of the item. */
  readonly item: Item;
  /** The item's `checker` object; empty if the type of the item chose the checker. */
  readonly options: JsonObject;
}

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

export function unscored(explanation: string): Unscored {
  return { status: 'unscored', score: null, passed: null, explanation };
}

/** The reference answer of an item; undefined if it is absent, null or an empty string. */
export function referenceAnswer(item: Item): JsonValue | undefined {
  const answer = getMember(item, 'answer');
  return answer === null || answer === '' ? undefined : answer;
}

/** What a checker finds in an item whose outputs it cannot score, whatever they are. */
export class Unscorable {
  readonly reason: UnscorableReason;
  readonly explanation: string;

  constructor(reason: UnscorableReason, explanation: string) {
    this.reason = reason;
    this.explanation = explanation;
  }
}

export const NO_ANSWER: Unscorable = new Unscorable('no_answer', 'The item has no answer to compare with');

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
  /** JSON Schemas of its options, by name. The checker itself validates them. */
  readonly options: Readonly<Record<string, OptionSchema>>;
}

interface Declared<Expected, Options extends Readonly<Record<string, Option<unknown>>>>
  extends Omit<CheckerDocs, 'options'> {
  readonly options: Options;
  /** Whether it takes a few steps per character, so that short outputs are checked on the calling thread. */
  readonly isCheap: boolean;
  /** What outputs are compared with, or why none of them can be scored. */
  readonly expected: (item: Item, options: Values<Options>) => Expected | Unscorable;
  /** @throws RunError `checker_limit` if the check would take too long */
  readonly compare: (output: JsonValue, expected: Expected, options: Values<Options>) => CheckOutcome;
}

type Values<Options extends Readonly<Record<string, Option<unknown>>>> = {
  readonly [Name in keyof Options]: ReturnType<Options[Name]['read']>;
};

/** A checker, declared once: its file has this, and `CHECKERS` a row. */
export function checker<Expected, Options extends Readonly<Record<string, Option<unknown>>>>({
  expected,
  compare,
  options: declared,
  ...docs
}: Declared<Expected, Options>) {
  const entries = Object.entries(declared);
  const readOptions = (options: JsonObject) =>
    Object.fromEntries(entries.map(([name, { read }]) => [name, read(options, name)])) as Values<Options>;
  return {
    ...docs,
    options: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    /** @throws RunError `checker_invalid` */
    readOptions,
    /** Scores one output. @throws RunError `checker_invalid`, `checker_limit` */
    check({ output, item, options: stated }: CheckRequest): CheckOutcome {
      const options = readOptions(stated);
      const found = expected(item, options);
      return found instanceof Unscorable ? unscored(found.explanation) : compare(output, found, options);
    },
    /**
     * Why `check` would leave every output of an item unscored, or `invalid_pattern` if it would fail; null if outputs can
     * be scored.
     */
    unscorableReason(item: Item, options: JsonObject, _once: DecideOnce): UnscorableReason | null {
      const found = expected(item, readOptions(options));
      return found instanceof Unscorable ? found.reason : null;
    },
  };
}

export type CheckerDeclaration = ReturnType<typeof checker>;

export interface Option<Value> {
  readonly schema: OptionSchema;
  /** @throws RunError `checker_invalid` */
  readonly read: (options: JsonObject, name: string) => Value;
}

export function optionSchema(
  type: OptionSchema['type'][0],
  description: string,
  more: ConfigSchema = {},
): OptionSchema {
  return { type: [type, 'null'], description, ...more };
}

export const flag = (description: string, fallback: boolean): Option<boolean> => ({
  schema: optionSchema('boolean', description, { default: fallback }),
  read(options, name) {
    const value = getMember(options, name) ?? fallback;
    if (typeof value === 'boolean') return value;
    throw new RunError('checker_invalid', `checker.${name} must be true or false.`);
  },
});

export const text = (description: string): Option<string | undefined> => ({
  schema: optionSchema('string', description),
  read: stringOption,
});

/** @param values the first one by default */
export const oneOf = <const Value extends string>(
  values: readonly [Value, ...Value[]],
  description: string,
): Option<Value> => ({
  schema: optionSchema('string', description, { enum: [...values, null], default: values[0] }),
  read(options, name) {
    const stated = stringOption(options, name) ?? values[0];
    const found = values.find((value) => value === stated);
    if (found !== undefined) return found;
    throw new RunError('checker_invalid', `checker.${name} must be one of ${values.join(', ')}.`);
  },
});

export const IGNORE_CASE = flag('whether letters of either case are equal', false);
