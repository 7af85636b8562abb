import type { Interval } from './intervals.ts';
import { normalQuantile } from './normal-quantile.ts';

/** What a gate says of a run. */
export type Verdict = 'not_worse' | 'worse' | 'undecided';

/**
 * The verdict of a gate: "not worse" if the interval of the difference is above the allowed drop, "worse" if it is below,
 * "undecided" if it contains the drop, or if there is no interval. docs/gate.md says how often that is wrong.
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

/** The chance that one 95 % interval is wholly on the wrong side. */
const ERROR = 0.025;

/**
 * Widens a 95 % interval to the level at which `count` intervals together err as rarely as one (Bonferroni), so that a gate
 * with many sections raises no more false alarms than a gate with one.
 *
 * @param difference inside the interval
 * @param count at least 1
 */
export function widenInterval([low, high]: Interval, difference: number, count: number): Interval {
  if (count === 1) return [low, high];
  const factor = normalQuantile(1 - ERROR / count) / normalQuantile(1 - ERROR);
  return [
    Math.max(-1, difference - factor * (difference - low)),
    Math.min(1, difference + factor * (high - difference)),
  ];
}
