import { RunError } from '../run-error.ts';
import type { CheckRunner } from '../threads/check-runner.ts';
import type { PlanCounts } from './describe-plan.ts';
import { withoutUnusable } from './without-unusable.ts';

/** An answer that a checker may be unable to use, and the items that have it. */
export interface PlannedAnswer {
  /** Type of the checker. */
  readonly type: string;
  /** JSON texts of the answer and of the choices; null without choices. */
  readonly answer: string;
  readonly choices: string | null;
  readonly items: number;
}

/**
 * Tries the answers with their checkers, and counts the items whose results would be unscored: by `unknown_answer` if the
 * answer is none of the choices, else by `no_answer`.
 */
export async function withoutUnusableAnswers(
  counts: PlanCounts,
  answers: readonly PlannedAnswer[],
  checks: Pick<CheckRunner, 'run'>,
  signal: AbortSignal,
): Promise<PlanCounts> {
  const reasonOf = async (answer: PlannedAnswer, limit: AbortSignal): Promise<string | null> => {
    if (await isUsable(answer, checks, limit)) return null;
    return answer.type === 'choice' ? 'unknown_answer' : 'no_answer';
  };
  return await withoutUnusable(counts, answers, reasonOf, signal);
}

async function isUsable(
  { type, answer, choices }: PlannedAnswer,
  checks: Pick<CheckRunner, 'run'>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const outcome = await checks.run(
      {
        ...{ kind: 'check', type, chars: answer.length + (choices?.length ?? 0), output: { text: '' } },
        answer: { json: answer },
        choices: choices === null ? null : { json: choices },
        options: null,
      },
      signal,
    );
    return outcome.status !== 'unscored';
  } catch (error) {
    // Beyond a limit of the checker, results fail.
    if (error instanceof RunError) return true;
    throw error;
  }
}
