import { VisuallyHidden } from '@mantine/core';
import { Facts } from '../ui/layout/facts.tsx';
import { formatCount, formatScore } from '../ui/text/formats.ts';
import { factsOf } from './run-facts.ts';
import type { WatchedRun } from './use-run.ts';

/** The numbers of a run: score with its interval, counts, time, latency, tokens and cost. */
export function RunSummary({ run }: { readonly run: WatchedRun }) {
  return (
    <>
      <Facts className="facts" facts={factsOf(run)} />
      <VisuallyHidden role="status">
        {formatCount(run.counts.done)} of {formatCount(run.counts.total)} done
        {run.finished_at === null ? '' : `, score ${formatScore(run.scores.mean)}`}
      </VisuallyHidden>
    </>
  );
}
