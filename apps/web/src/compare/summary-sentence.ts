import { formatCount } from '../ui/text/formats.ts';
import type { Compared } from './use-differences.ts';

type Numbers = Pick<
  Compared,
  'mean_difference' | 'ci95' | 'paired' | 'wins' | 'losses' | 'p_value' | 'verdict'
>;

/** A comparison in one sentence: `+6.2 points, 95 % CI 4.1 to 8.3, n = 500, 31 better, 0 worse, p < 0.001`. */
export function summarySentence({
  mean_difference,
  ci95,
  paired,
  wins,
  losses,
  p_value,
  verdict,
}: Numbers): string | null {
  if (mean_difference === null) return null;
  const [low, high] = ci95 ?? [];
  return [
    `${mean_difference < 0 ? '−' : '+'}${points(Math.abs(mean_difference))} points`,
    ...(low === undefined || high === undefined ? [] : [`95 % CI ${points(low)} to ${points(high)}`]),
    `n = ${formatCount(paired)}`,
    `${formatCount(wins)} better`,
    `${formatCount(losses)} worse`,
    ...(p_value === null ? [] : [p_value < 0.001 ? 'p < 0.001' : `p = ${p_value.toFixed(3)}`]),
    ...(verdict === undefined ? [] : ['too few items to decide']),
  ].join(', ');
}

/** A difference of scores in hundredths. */
const points = (difference: number): string => (100 * difference).toFixed(1).replace('-', '−');
