import { SimpleGrid } from '@mantine/core';
import { Fact } from '../ui/layout/fact.tsx';
import { formatCost, formatCount, formatDuration, formatPercent, formatScore } from '../ui/text/formats.ts';
import type { WatchedRun } from './use-run.ts';

/** The numbers of a run: score with its interval, counts, time, latency, tokens and cost. */
export function RunSummary({ run }: { readonly run: WatchedRun }) {
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, md: 4, xl: 8 }} spacing="xs" component="dl" m={0} aria-live="polite">
      {factsOf(run).map(([name, value, note]) => (
        <Fact key={name} name={name} value={value} note={note} />
      ))}
    </SimpleGrid>
  );
}

type FactOfRun = readonly [name: string, value: string, note?: string];

function factsOf(run: WatchedRun): readonly FactOfRun[] {
  const { counts, scores, usage, cost, latency_ms } = run;
  const [low, high] = scores.ci95 ?? [];
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
  const rate = perSecond === undefined ? [] : [`${perSecond.toFixed(1)} results/s`];
  const left =
    run.finished_at === null && run.progress?.remaining_ms != null
      ? [`${formatDuration(run.progress.remaining_ms)} left`]
      : [];
  const tokens = usage.input_tokens + usage.output_tokens;
  return [
    [
      'Score',
      formatScore(scores.mean),
      low === undefined || high === undefined ? undefined : `${formatScore(low)} to ${formatScore(high)}`,
    ],
    ['Passed', formatPercent(scores.pass_rate), formatCount(scores.passed)],
    ['Done', formatCount(counts.done), `of ${formatCount(counts.total)}`],
    [
      'Failed',
      formatCount(counts.failed),
      counts.unscored === 0 ? undefined : `${formatCount(counts.unscored)} unscored`,
    ],
    ['Time', elapsedMs === null ? '–' : formatDuration(elapsedMs), [...rate, ...left].join(', ')],
    [
      'Latency',
      latency_ms?.p50 == null ? '–' : formatDuration(latency_ms.p50),
      latency_ms?.p99 == null ? undefined : `99 %: ${formatDuration(latency_ms.p99)}`,
    ],
    [
      'Tokens',
      formatCount(tokens),
      tokens === 0 ? undefined : `${formatCount(usage.output_tokens)} of them output`,
    ],
    ['Cost', formatCost(cost)],
  ];
}
