import { type Price, runCost } from '@svc/evaluation';
import type { JsonBody } from '@svc/runtime';
import type { Run, RunSummary } from '@svc/store';

/** The scores of a run; without a summary, those that its counts give. */
export function scoresOf({ scores, counts }: Run, summary: RunSummary | null): JsonBody {
  if (summary !== null) return summary.scores as unknown as JsonBody;
  const { mean, stderr, passed, passRate, passRateScored } = scores;
  return {
    mean,
    stderr,
    ci95: mean === null || stderr === null ? null : [mean - 1.96 * stderr, mean + 1.96 * stderr],
    passed,
    pass_rate: passRate,
    pass_rate_scored: passRateScored,
    results: counts.done,
    ok: counts.ok,
    failed: counts.failed,
    unscored: counts.unscored,
  };
}

/** What the tokens of a run cost; null without a price. */
export function costOf({ price, judgePrice, usage }: Run): { amount: number; currency: string } | null {
  return runCost({ model: toPrice(price), judge: toPrice(judgePrice) }, usage);
}

interface StatedPrice {
  readonly input_per_million: number;
  readonly output_per_million: number;
  readonly currency?: unknown;
}

/** The configuration of an imported run may be any object. */
function isPrice(value: unknown): value is StatedPrice {
  if (typeof value !== 'object' || value === null) return false;
  return ['input_per_million', 'output_per_million'].every((name) =>
    Number.isFinite((value as Record<string, unknown>)[name]),
  );
}

function toPrice(json: string | null): Price | null {
  const price: unknown = json === null ? null : JSON.parse(json);
  if (!isPrice(price)) return null;
  return { ...price, currency: typeof price.currency === 'string' ? price.currency : 'USD' };
}
