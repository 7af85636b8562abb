import type { Item } from '@svc/jsonl-v23';
import { getMember, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import type { ChatMessage } from '../ports.ts';
import { RunError } from '../run-error.ts';

/** What a checker looks at. */
export interface CheckRequest {
  /** what the provider gave */
  readonly output: JsonValue;
  /** a checker that runs on a thread sees the item's answer and choices, and nothing else of it */
  readonly item: Item;
  /** the item's `checker` object; empty when the checker was chosen by the item's type */
  readonly options: JsonObject;
}

/** The model that judges, and how. */
export interface Judge {
  /** Gives the judge's words on a conversation, or on its JSON text in UTF-8. Throws what the provider throws. */
  ask(messages: readonly ChatMessage[] | Uint8Array, signal: AbortSignal): Promise<string>;
  /** the least score that passes where the judge does not say */
  readonly threshold: number;
  /** `default_judge_prompts` of the dataset, where it has some */
  readonly defaultPrompts: JsonValue;
}

/** What a checker found. A score has a meaning only with status `ok`. */
export type CheckOutcome =
  | {
      readonly status: 'ok';
      readonly score: number;
      readonly passed: boolean;
      readonly explanation: string | null;
    }
  | {
      readonly status: 'unscored';
      readonly score: null;
      readonly passed: null;
      readonly explanation: string;
    };

/**
 * Scores one output. Throws RunError `checker_invalid` when its options cannot be used, `checker_limit` when
 * the check would take too long; the result is then `failed`.
 */
export type Checker = (request: CheckRequest) => CheckOutcome;

/** An output that is right or wrong: score 1 or 0. */
export function passedOrNot(passed: boolean, explanation: string | null = null): CheckOutcome {
  return { status: 'ok', score: passed ? 1 : 0, passed, explanation };
}

/** An output that nothing can be said of. */
export function unscored(explanation: string): CheckOutcome {
  return { status: 'unscored', score: null, passed: null, explanation };
}

/** The reference answer of an item; undefined where it has none, which null and the empty string count as. */
export function referenceAnswer(item: Item): JsonValue | undefined {
  const answer = getMember(item, 'answer');
  return answer === null || answer === '' ? undefined : answer;
}

/** What a check says of an item that has no reference answer. */
export const NO_ANSWER: CheckOutcome = unscored('The item has no answer to compare with');

/**
 * A boolean option of a checker; `fallback` where it is absent or null. Throws RunError `checker_invalid`.
 */
export function booleanOption(options: JsonObject, name: string, fallback: boolean): boolean {
  const value = getMember(options, name) ?? fallback;
  if (typeof value === 'boolean') return value;
  throw new RunError('checker_invalid', `checker.${name} must be true or false`);
}

/** A string option of a checker; undefined where it is absent or null. Throws RunError `checker_invalid`. */
export function stringOption(options: JsonObject, name: string): string | undefined {
  const value = getMember(options, name) ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new RunError('checker_invalid', `checker.${name} must be a string`);
}
