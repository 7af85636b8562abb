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
  // Earlier versions do not know it: what is too long is left out, as they do.
  return words.length > 2 * MAX_PROVIDER_MESSAGE
    ? { code, message }
    : { code, message, provider_message: words };
}

/** Compares lists of equal length number by number. */
export function compareNumbers(left: readonly number[], right: readonly number[]): number {
  for (const [index, value] of left.entries()) {
    const difference = value - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
