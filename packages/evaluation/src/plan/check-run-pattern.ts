import { isJsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { ConfigProblems } from '../config/config-problems.ts';
import { readCanonicalText } from '../item/canonical-text.ts';
import type { RunChecker } from '../item/with-checker.ts';
import { RunError } from '../run-error.ts';
import { packValue } from '../scoring/packed-value.ts';
import type { CheckRunner } from '../threads/check-runner.ts';

type Checks = Pick<CheckRunner, 'run'>;

/**
 * Compiles the pattern of a run's own `regex` checker on a thread.
 *
 * @param path JSON Pointer of the checker in the request body
 * @throws RunError `invalid_request` if the pattern cannot be used
 */
export async function checkRunPattern(
  checker: RunChecker | null,
  path: string,
  checks: Checks,
  signal: AbortSignal,
): Promise<void> {
  const options = checker === null ? null : readCanonicalText(checker.json);
  if (!isJsonObject(options) || options['type'] !== 'regex' || options['pattern'] == null) return;
  const problem = await patternProblem(options, checks, signal);
  if (problem === undefined) return;
  const problems = new ConfigProblems(path);
  problems.add(`is invalid: ${problem.replace(/\.$/, '')}`, ['pattern']);
  throw problems.toError();
}

/** Why a pattern cannot be used; undefined if it can. */
async function patternProblem(
  options: JsonValue,
  checks: Checks,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await checks.run(
      {
        ...{ kind: 'check', type: 'regex', chars: 0 },
        ...{ output: packValue(''), answer: null, choices: null, options: packValue(options) },
      },
      signal,
    );
    return undefined;
  } catch (error) {
    if (error instanceof RunError) return error.message;
    throw error;
  }
}
