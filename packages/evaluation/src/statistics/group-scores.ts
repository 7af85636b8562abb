import { estimateMean } from './estimate.ts';
import { type PassCount, passAtK, passHatK } from './pass-at-k.ts';

/** Counts and sums of the results of some items. */
export interface ResultSums {
  readonly results: number;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
  /** Results with a score, and the sum of their scores. */
  readonly scored: number;
  readonly scoreSum: number;
  readonly passed: number;
  /** Items with at least one score, and the sample standard deviation of their mean scores. */
  readonly scoredItems: number;
  readonly itemDeviation: number | null;
  readonly passCounts: readonly PassCount[];
}

/** The scores of a run, or of a part of it, as the API shows them. */
export interface GroupScores {
  /** Of all scored results. */
  readonly mean: number | null;
  readonly stderr: number | null;
  readonly ci95: readonly [number, number] | null;
  readonly passed: number;
  /** Passed of those that should have been scored: a failed request has not passed. */
  readonly pass_rate: number | null;
  /** Passed of the scored ones. */
  readonly pass_rate_scored: number | null;
  /** By k from 1 to the repetitions. */
  readonly pass_at_k: Readonly<Record<string, number>>;
  /** The same, of items of which all tries pass. */
  readonly pass_hat_k: Readonly<Record<string, number>>;
  readonly results: number;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
}

/** @param repetitions of the run */
export function groupScores(sums: ResultSums, repetitions: number): GroupScores {
  const { results, ok, failed, unscored, scored, passed } = sums;
  const due = ok + failed;
  return {
    ...estimateMean(scored === 0 ? null : sums.scoreSum / scored, sums.scoredItems, sums.itemDeviation),
    passed,
    pass_rate: due === 0 ? null : passed / due,
    pass_rate_scored: scored === 0 ? null : passed / scored,
    pass_at_k: passAtK(sums.passCounts, repetitions),
    pass_hat_k: passHatK(sums.passCounts, repetitions),
    results,
    ok,
    failed,
    unscored,
  };
}
