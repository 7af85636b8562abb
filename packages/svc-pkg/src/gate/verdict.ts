/** A confidence interval of a difference of two scores. */
export type Interval = readonly [low: number, high: number];

/** What a gate says of a run. */
export type Verdict = 'not_worse' | 'worse' | 'undecided';

/**
 * The verdict of a gate: "not worse" if the interval of the difference is above the drop that is allowed, "worse" if it is
 * below, "undecided" if it contains that drop, or if there is no interval. docs/gate.md says how often that is wrong.
 *
 * @param interval 95 % interval of the run's score minus the baseline's
 * @param maxDrop from 0 to 1
 */
export function verdictOf(interval: Interval | null, maxDrop: number): Verdict {
  if (interval === null) return 'undecided';
  const [low, high] = interval;
  if (low >= -maxDrop) return 'not_worse';
  return high < -maxDrop ? 'worse' : 'undecided';
}
