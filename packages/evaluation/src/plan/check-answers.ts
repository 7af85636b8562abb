import { RunError } from '../run-error.ts';
import type { CheckRunner } from '../threads/check-runner.ts';
import type { PlanCounts } from './describe-plan.ts';

/** An answer that a checker may be unable to use, and the items that have it. */
export interface PlannedAnswer {
  /** Type of the checker. */
  readonly type: string;
  /** JSON texts of the answer and of the choices; null without choices. */
  readonly answer: string;
  readonly choices: string | null;
  readonly items: number;
}

/** How long the answers may take together; the rest of them count as usable. */
const ANSWERS_MS = 5_000;

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
  const late = AbortSignal.timeout(ANSWERS_MS);
  const unusable: Record<string, number> = {};
  try {
    for (const answer of answers) {
      if (await isUsable(answer, checks, AbortSignal.any([signal, late]))) continue;
      const reason = answer.type === 'choice' ? 'unknown_answer' : 'no_answer';
      unusable[reason] = (unusable[reason] ?? 0) + answer.items;
    }
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error;
  }
  let { scored } = counts;
  const unscorable = { ...counts.unscorable };
  for (const [reason, items] of Object.entries(unusable)) {
    scored -= items;
    unscorable[reason] = (unscorable[reason] ?? 0) + items;
  }
  return { ...counts, scored, unscorable };
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
