import type { JsonObject } from '@svc/jsonl-v23/json';
import {
  clampedInterval,
  formatCost,
  formatCount,
  formatDuration,
  formatInterval,
  formatPercent,
  formatScore,
  present,
} from '../ui/text/formats.ts';
import { type Run, tokensOf, type WatchedRun } from './queries.ts';

type FactOfRun = readonly [name: string, value: string, note?: string];

export function factsOf(run: WatchedRun): readonly FactOfRun[] {
  const { counts, scores, usage, cost, latency_ms } = run;
  const elapsedMs =
    run.started_at === null
      ? null
      : Date.parse(run.finished_at ?? new Date().toISOString()) - Date.parse(run.started_at);
  const perSecond =
    run.progress?.results_per_minute != null
      ? run.progress.results_per_minute / 60
      : elapsedMs === null || elapsedMs < 1000
        ? undefined
        : (1000 * counts.done) / elapsedMs;
  const remainingMs = run.finished_at === null ? run.progress?.remaining_ms : null;
  const pace = present([
    perSecond !== undefined && `${perSecond.toFixed(1)} results/s`,
    remainingMs != null && `${formatDuration(remainingMs)} left`,
  ]);
  // a result without a score is neither
  const due = scores.passed + scores.wrong + counts.failed;
  const passRate = `${formatPercent(scores.pass_rate)} of ${formatCount(due)}`;
  const unscored = counts.unscored === 0 ? undefined : `${formatCount(counts.unscored)} not scored`;
  const slow = latency_ms?.p99 == null ? undefined : `median, 99 %: ${formatDuration(latency_ms.p99)}`;
  const isWhole = run.finished_at !== null && counts.done === counts.total;
  const tokens = tokensOf(run);
  return present<FactOfRun>([
    ['Score', scoreText(scores), intervalText(run)],
    counts.ok > 0 && ['Right', formatCount(scores.passed), passRate],
    counts.ok > 0 && ['Wrong', formatCount(scores.wrong)],
    ['No answer', formatCount(counts.failed), unscored],
    !isWhole && ['Done', formatCount(counts.done), `of ${formatCount(counts.total)}`],
    ['Time', formatDuration(elapsedMs), pace.join(', ')],
    ['Latency', formatDuration(latency_ms?.p50), slow],
    tokens > 0 && ['Tokens', formatCount(tokens), `${formatCount(usage.output_tokens)} output`],
    cost !== null && ['Cost', formatCost(cost)],
    run.bar !== null && ['Bar', run.verdict?.outcome.replace('_', ' ') ?? 'sealed', barText(run)],
    run.run_hash !== null && ['Hash', run.run_hash.slice(0, 12)],
  ]);
}

function barText({ bar, verdict }: Run): string {
  const metric = [bar?.metric === 'pass_rate' ? 'pass rate' : 'mean', bar?.scorer]
    .filter(Boolean)
    .join(' of ');
  const limit =
    bar?.at_least === undefined
      ? `at most ${formatScore(bar?.max_drop ?? null)} below the baseline`
      : `at least ${formatScore(bar.at_least)}`;
  const before = verdict?.outputs_before ?? 0;
  return `${metric} ${limit}${before === 0 ? '' : `, ${formatCount(before)} outputs may be older than the bar`}`;
}

export function proofOf(run: Run): JsonObject {
  const { run_hash, scoring, bar, bar_hash, verdict } = run;
  return { run_hash, scoring, bar, bar_hash, verdict } as unknown as JsonObject;
}

/** Fewer scored results say little, whatever their interval. */
const FEW = 10;

/** A score with half the width of its interval: `0.813 ± 0.036`. */
export function scoreText({ mean, ci95 }: Pick<Run['scores'], 'mean' | 'ci95'>): string {
  const [low, high] = clampedInterval(ci95) ?? [];
  if (mean === null || low === undefined || high === undefined) return formatScore(mean);
  return `${formatScore(mean)} ± ${((high - low) / 2).toFixed(3)}`;
}

function intervalText({ scores, counts }: Run): string | undefined {
  if (scores.mean === null) return undefined;
  const of = `${formatCount(counts.ok)} scored`;
  if (counts.ok < FEW) return `of ${of}: too few to say much`;
  const interval = clampedInterval(scores.ci95);
  return interval === null ? `of ${of}` : `95 %: ${formatInterval(interval)}, of ${of}`;
}
