import { readPrices, runCost } from '@svc/evaluation';
import { type JsonBody, JsonText } from '@svc/runtime';
import type { Run, RunSummary } from '@svc/store';

/** The scores of a run; without a summary, those of the stored one, or those that its counts give. */
export function scoresOf({ scores, counts, summaryScores }: Run, summary: RunSummary | null): JsonBody {
  if (summary !== null) return { ...summary.scores, ...summary.parts } as unknown as JsonBody;
  if (summaryScores !== null) return new JsonText(summaryScores);
  const { mean, passed, wrong, passRate, passRateScored } = scores;
  return {
    mean,
    stderr: null,
    ci95: null,
    passed,
    wrong,
    no_output: counts.failed,
    pass_rate: passRate,
    pass_rate_ci95: null,
    pass_rate_scored: passRateScored,
    pass_rate_scored_ci95: null,
    results: counts.done,
    ok: counts.ok,
    failed: counts.failed,
    unscored: counts.unscored,
    warnings: [],
  };
}

/** The scores by each named scorer; empty until they are known. */
export function scorersOf({ summaryScorers }: Run, summary: RunSummary | null): JsonBody {
  if (summary !== null) return { ...summary.scorers } as unknown as JsonBody;
  return summaryScorers === null ? {} : new JsonText(summaryScorers);
}

/** What the tokens of a run cost; null without a price. */
export function costOf({
  price,
  judgePrice,
  usage,
  judgeCost,
}: Run): { amount: number; currency: string } | null {
  return runCost(readPrices(price, judgePrice), { ...usage, judgeCost });
}
