import { performCheck, planOutput, type ScoreRequest } from '../src/check-output.ts';
import type { CheckOutcome } from '../src/checkers/checker.ts';

/** Scores an output as `runItem` does for an item that is not large. */
export async function checkOutput(
  request: Omit<ScoreRequest, 'reasoning' | 'thoughts'> &
    Partial<Pick<ScoreRequest, 'reasoning' | 'thoughts'>>,
): Promise<CheckOutcome> {
  return await performCheck(planOutput({ reasoning: 'strip', thoughts: null, ...request }), request);
}
