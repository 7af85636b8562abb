import { VisuallyHidden } from '@mantine/core';
import { Fact } from '../ui/layout/fact.tsx';
import { formatCount, formatScore } from '../ui/text/formats.ts';
import { factsOf } from './run-facts.ts';
import type { WatchedRun } from './use-run.ts';

/** The numbers of a run: score with its interval, counts, time, latency, tokens and cost. */
export function RunSummary({ run }: { readonly run: WatchedRun }) {
  return (
    <>
      <dl className="facts">
        {factsOf(run).map(([name, value, note]) => (
          <Fact key={name} name={name} value={value} note={note} />
        ))}
      </dl>
      <VisuallyHidden role="status">
        {formatCount(run.counts.done)} of {formatCount(run.counts.total)} done
        {run.finished_at === null ? '' : `, score ${formatScore(run.scores.mean)}`}
      </VisuallyHidden>
    </>
  );
}
