import { getMember, isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';

/** How often a run executes each item at most. */
export const MAX_REPETITIONS = 100;

/** Why a run or one of its results failed. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** What the provider says about it. */
  readonly provider_message?: string;
}

/** Code points of a provider's message. */
const MAX_PROVIDER_MESSAGE = 500;

/** Characters that are certain to be stored and read again. */
const MAX_ERROR_LENGTH = 10_000;

/** The error of a run or a result: null for none, undefined for an invalid value. */
export function readRunError(value: JsonValue | undefined): RunError | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isJsonObject(value)) return undefined;
  const code = getMember(value, 'code');
  const message = getMember(value, 'message');
  const words = getMember(value, 'provider_message');
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  if (code.length + message.length > MAX_ERROR_LENGTH) return undefined;
  if (typeof words !== 'string') return { code, message };
  // Earlier versions do not know it. Like them, this leaves out what is too long.
  return words.length > 2 * MAX_PROVIDER_MESSAGE
    ? { code, message }
    : { code, message, provider_message: words };
}

/** Scorers of one run. */
export const MAX_SCORERS = 16;
/** A filter of lm-evaluation-harness follows a comma. */
const SCORER_NAME = /^[\w.,-]{1,64}$/;
const SCORED_BY: readonly JsonValue[] = ['checker', 'judge', 'client', 'label', null];

/** Whether a value is what scorers say of an output, by their names. */
export function areScores(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_SCORERS && entries.every(([name, one]) => SCORER_NAME.test(name) && isScore(one))
  );
}

function isScore(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { score = null, passed = null, explanation = null, scored_by = null, error } = value;
  return (
    (score === null || (typeof score === 'number' && score >= 0 && score <= 1)) &&
    (passed === null || (typeof passed === 'boolean' && score !== null)) &&
    (explanation === null || typeof explanation === 'string') &&
    SCORED_BY.includes(scored_by) &&
    readRunError(error) !== undefined
  );
}

/** Compares lists of equal length number by number. */
export function compareNumbers(left: readonly number[], right: readonly number[]): number {
  for (const [index, value] of left.entries()) {
    const difference = value - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
