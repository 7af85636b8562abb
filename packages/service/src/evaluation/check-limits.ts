import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { RunError } from './run-error.ts';

/** Characters of the output and of the reference answer together. */
export const MAX_CHECK_CHARS: number = 16 * 1024 * 1024;
/** Values in the output, the answer, the choices and the options, at any depth. */
export const MAX_CHECK_VALUES: number = 250_000;
/** Characters of the output times the number of texts to find in it. */
export const MAX_SEARCH_STEPS = 100_000_000;

export function checkerLimit(message: string): RunError {
  return new RunError('checker_limit', message);
}

/**
 * Measures the values of a check: output, answer, choices and options.
 *
 * @returns approximate number of characters of their JSON text
 * @throws RunError `checker_limit` if they are too large for any checker
 */
export function measureCheck(checked: readonly (JsonValue | undefined)[]): number {
  let chars = 0;
  let values = 0;
  const count = (value: JsonValue): void => {
    values += 1;
    if (typeof value === 'string') chars += value.length + 2;
    else if (Array.isArray(value)) {
      for (const member of value) count(member);
    } else if (isJsonObject(value)) {
      for (const key of Object.keys(value)) {
        chars += key.length + 4;
        count(value[key] ?? null);
      }
    } else chars += String(value).length + 1;
    if (chars > MAX_CHECK_CHARS) {
      throw checkerLimit(
        `The output and the answer must have at most ${MAX_CHECK_CHARS} characters together to be checked.`,
      );
    }
    if (values > MAX_CHECK_VALUES) {
      throw checkerLimit(
        `The output and the answer must have at most ${MAX_CHECK_VALUES} values together to be checked.`,
      );
    }
  };
  for (const value of checked) if (value !== undefined) count(value);
  return chars;
}
