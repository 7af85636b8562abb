import { isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { RunError } from '../run-error.ts';

/** Characters of the output and of the reference answer together. */
export const MAX_CHECK_CHARS: number = 16 * 1024 * 1024;
/** Values inside the output, the answer, the choices and the options: members of lists and objects, at any depth. */
export const MAX_CHECK_VALUES: number = 250_000;
/** Characters of the output times the texts that are looked for in it. */
export const MAX_SEARCH_STEPS = 100_000_000;

/** The error of a check that would take more than its limits. */
export function checkerLimit(message: string): RunError {
  return new RunError('checker_limit', message);
}

/** What a check looks at. */
interface CheckedValues {
  readonly output: JsonValue;
  readonly answer: JsonValue | undefined;
  readonly choices: JsonValue | undefined;
  readonly options: JsonObject;
}

/**
 * Measures what a check looks at, and refuses what is too large for any checker.
 *
 * @returns about the characters of its JSON text
 * @throws RunError `checker_limit`
 */
export function measureCheck({ output, answer, choices, options }: CheckedValues): number {
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
        `The output and the answer must have at most ${MAX_CHECK_CHARS} characters together to be checked`,
      );
    }
    if (values > MAX_CHECK_VALUES) {
      throw checkerLimit(
        `The output and the answer must have at most ${MAX_CHECK_VALUES} values together to be checked`,
      );
    }
  };
  for (const value of [output, answer, choices, options]) if (value !== undefined) count(value);
  return chars;
}
