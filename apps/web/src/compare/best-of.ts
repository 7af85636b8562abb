import type { Run } from '../runs/use-run.ts';

/** A run with its score and what it took. */
export interface MeasuredRun<Of = Run> {
  readonly run: Of;
  readonly took: number;
  readonly score: number;
}

/** The runs than which none is better for at most the same, those that took least first. */
export function bestOf<Of>(runs: readonly MeasuredRun<Of>[]): readonly MeasuredRun<Of>[] {
  const best: MeasuredRun<Of>[] = [];
  for (const run of runs.toSorted((a, b) => a.took - b.took || b.score - a.score))
    if (run.score > (best.at(-1)?.score ?? Number.NEGATIVE_INFINITY)) best.push(run);
  return best;
}
