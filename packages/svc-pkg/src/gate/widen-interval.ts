import { normalQuantile } from './normal-quantile.ts';
import type { Interval } from './verdict.ts';

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
