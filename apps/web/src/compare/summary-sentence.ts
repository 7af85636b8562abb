import type { ResponseOf } from '@svc/client';
import { nameOf, type Run } from '../runs/queries.ts';
import { formatCount, formatCountOf, present } from '../ui/text/formats.ts';

export type Compared = ResponseOf<'/runs/{id}/compare/{other_id}', 'get'>;

export type Difference = Compared['data'][number];

type Numbers = Pick<
  Compared,
  'mean_difference' | 'ci95' | 'paired' | 'wins' | 'losses' | 'p_value' | 'verdict'
>;

/**
 * What a comparison says, for people who read nothing else:
 * `step by step is better by 5.4 points, 95 % CI 3.9 to 6.9, 1,319 items, against plain`.
 */
export function verdictSentence(
  { mean_difference, ci95, paired, verdict }: Numbers,
  first: Pick<Run, 'id' | 'name' | 'config'>,
  other: Pick<Run, 'id' | 'name' | 'config'>,
): string | null {
  if (mean_difference === null) return null;
  const [one, than] = [nameOf(other), nameOf(first)];
  const items = formatCountOf(paired, 'item');
  const [low = mean_difference, high = mean_difference] = ci95 ?? [];
  const isWorse = mean_difference < 0;
  if (verdict === 'undecided')
    return `Undecided: ${items} ${paired === 1 ? 'is' : 'are'} too few to tell ${one} from ${than}`;
  const within = (from: number, to: number): string =>
    ci95 === null ? '' : `, 95 % CI ${points(from)} to ${points(to)}`;
  if (low <= 0 && high >= 0) {
    const by = mean_difference === 0 ? '0.0' : `${isWorse ? '−' : '+'}${points(Math.abs(mean_difference))}`;
    return `No clear difference: ${one} is at ${by} points${within(low, high)}, ${items}, against ${than}`;
  }
  // of a loss, how large it is
  const interval = isWorse ? within(-high, -low) : within(low, high);
  return `${one} is ${isWorse ? 'worse' : 'better'} by ${points(Math.abs(mean_difference))} points${interval}, ${items}, against ${than}`;
}

/** A comparison in one sentence: `+6.2 points, 95 % CI 4.1 to 8.3, n = 500, 31 better, 0 worse, p < 0.001`. */
export function summarySentence(numbers: Numbers): string | null {
  const { mean_difference, ci95, paired, wins, losses, p_value, verdict } = numbers;
  if (mean_difference === null) return null;
  const [low, high] = ci95 ?? [];
  return present([
    `${mean_difference < 0 ? '−' : '+'}${points(Math.abs(mean_difference))} points`,
    low !== undefined && high !== undefined && `95 % CI ${points(low)} to ${points(high)}`,
    `n = ${formatCount(paired)}`,
    `${formatCount(wins)} better`,
    `${formatCount(losses)} worse`,
    p_value !== null && (p_value < 0.001 ? 'p < 0.001' : `p = ${p_value.toFixed(3)}`),
    verdict !== undefined && 'too few items to decide',
  ]).join(', ');
}

/** A difference of scores in hundredths. */
const points = (difference: number): string => (100 * difference).toFixed(1).replace('-', '−');
