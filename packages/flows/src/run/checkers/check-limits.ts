import type { JsonValue } from '@svc/jsonl-v23';
import { isJsonObject } from '@svc/jsonl-v23';
import { RunError } from '../run-error.ts';

/** Characters of the output and of the reference answer together. */
export const MAX_CHECK_CHARS = 16 * 1024 * 1024;
/** Characters of the output times the texts that are looked for in it. */
export const MAX_SEARCH_STEPS = 100_000_000;

/** The error of a check that would take more than its limits. */
export function checkerLimit(message: string): RunError {
  return new RunError('checker_limit', message);
}

/**
 * Refuses an output and an answer that are too long together for any checker.
 *
 * @throws RunError `checker_limit`
 */
export function limitCheckSize(output: JsonValue, answer: JsonValue): void {
  if (charsUpTo(output, MAX_CHECK_CHARS) + charsUpTo(answer, MAX_CHECK_CHARS) > MAX_CHECK_CHARS) {
    throw checkerLimit(
      `The output and the answer must have at most ${MAX_CHECK_CHARS} characters together to be compared`,
    );
  }
}

/** About the characters of a value's JSON text; counting stops once there are more than `limit`. */
function charsUpTo(value: JsonValue, limit: number): number {
  let chars = 0;
  const count = (one: JsonValue): void => {
    if (chars > limit) return;
    if (typeof one === 'string') chars += one.length + 2;
    else if (Array.isArray(one)) {
      chars += 2;
      for (const member of one) count(member);
    } else if (isJsonObject(one)) {
      chars += 2;
      for (const [key, member] of Object.entries(one)) {
        chars += key.length + 4;
        count(member);
      }
    } else chars += String(one).length + 1;
  };
  count(value);
  return chars;
}
