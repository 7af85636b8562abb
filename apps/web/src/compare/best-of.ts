import { type Run, tokensOf } from '../runs/queries.ts';
import { formatCost, formatCount } from '../ui/text/formats.ts';
import type { MEASURES } from './compare-search.ts';

export type Measure = (typeof MEASURES)[number];

export interface MeasuredRun<Of = Run> {
  readonly run: Of;
  readonly took: number;
  readonly score: number;
}

/** The runs that none beats for at most the same, nor equals for less, as far as `format` shows; the cheapest first. */
export function bestOf<Of>(runs: readonly MeasuredRun<Of>[], format: (took: number) => string) {
  return runs
    .filter(
      (run) =>
        !runs.some((other) => {
          const isSame = format(other.took) === format(run.took);
          const isLess = !isSame && other.took < run.took;
          return (other.score > run.score && (isSame || isLess)) || (other.score === run.score && isLess);
        }),
    )
    .toSorted((a, b) => a.took - b.took);
}

/** What tells over which items a run is: the version, what it selects of it, and how much of that is done. */
export function itemsOf({ dataset_version_hash, config, counts }: Run): string {
  const { select = null } = config as { readonly select?: unknown };
  return JSON.stringify([dataset_version_hash, select, counts.done === counts.total ? 'all' : counts.done]);
}

const perThousand = (number: number, { counts }: Pick<Run, 'counts'>): number | null =>
  counts.done === 0 ? null : (1_000 * number) / counts.done;

/** What a run took, for 1,000 results or in milliseconds; null if that is not known. Lists lack latencies. */
export function tookOf(run: Run, against: Measure, whole: Run | undefined, currency: string | undefined) {
  if (against === 'latency') return whole?.latency_ms?.p50 ?? null;
  if (against === 'tokens') return perThousand(tokensOf(run), run) || null;
  return run.cost?.currency === currency && run.cost ? perThousand(run.cost.amount, run) : null;
}

export const costPerThousand = (run: Run): string =>
  formatCost(run.cost && { ...run.cost, amount: perThousand(run.cost.amount, run) ?? 0 });

export const tokensPerThousand = (run: Run): string =>
  formatCount(Math.round(perThousand(tokensOf(run), run) ?? 0));
