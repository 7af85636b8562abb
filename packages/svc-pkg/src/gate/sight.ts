import { normalQuantile } from '../evaluation.ts';

/** What is known of the scores of two runs before the second one starts. */
export interface ScoreSpread {
  /** Variance of the scores of the baseline's items. */
  readonly variance: number;
  /** Correlation of the two scores of an item. */
  readonly correlation: number;
}

/** As many as a run may have. */
const MAX_REPETITIONS = 100;

/** Quantiles with two decimals, as the tables of textbooks have them: 1.96, and 0.84 for a power of 0.8. */
const tabulated = (chance: number): number => Math.round(normalQuantile(chance) * 100) / 100;

/** The variance of the difference of two scores of an item, in units of what `n` items and a power can see. */
const scaled = ({ variance, correlation }: ScoreSpread, power: number): number =>
  (tabulated(0.975) + tabulated(power)) ** 2 * 2 * variance * (1 - correlation);

/** The smallest drop that a comparison sees: (1.96 + 0.84) · sqrt(2 s² (1 - r) / n) for a power of 0.8. */
export function detectableDrop(spread: ScoreSpread, items: number, power: number): number {
  return Math.sqrt(scaled(spread, power) / items);
}

/** The items that see a drop. @param drop more than 0 */
export function itemsToDetect(spread: ScoreSpread, drop: number, power: number): number {
  // Rounding must not add an item.
  return Math.max(2, Math.ceil(scaled(spread, power) / drop ** 2 - 1e-6));
}

/**
 * Plans a gate that sees a drop. If a dataset has too few items, all of them are repeated: then items times repetitions
 * count, because both runs share how hard an item is, and repetitions average out the rest.
 *
 * @param options.available items of the dataset, at least 1
 * @param options.repetitions of the baseline; `spread` is about each item's mean of them
 */
export function planGate(
  spread: ScoreSpread,
  options: Readonly<Record<'available' | 'repetitions' | 'detect' | 'power', number>>,
) {
  const { available, repetitions, detect, power } = options;
  const needed = itemsToDetect(spread, detect, power);
  const items = Math.min(needed, available);
  const wanted = repetitions * Math.ceil(needed / items);
  const planned = Math.max(repetitions, Math.min(wanted, MAX_REPETITIONS));
  const detectable = detectableDrop(spread, (items * planned) / repetitions, power);
  return { items, repetitions: planned, detectable };
}

export type Sight = ReturnType<typeof sightOf>;

/** What a gate can see with some items, and what it needs to see a drop, with the names and in the order of its JSON. */
export function sightOf(
  spread: ScoreSpread & { readonly variance_assumed: boolean; readonly measured_with: string | null },
  { items, drop, power }: Readonly<Record<'items' | 'drop' | 'power', number>>,
) {
  const { variance_assumed, correlation, measured_with } = spread;
  return {
    items,
    detectable: detectableDrop(spread, items, power),
    needed_items: drop === 0 ? null : itemsToDetect(spread, drop, power),
    ...{ power, variance_assumed, correlation, measured_with },
  };
}

/** A sentence on what a gate can see; null if it is unknown. */
export function sightText(sight: Sight | null, baseline: string, drop: number): string {
  if (sight === null) {
    return `All scores of ${baseline} are equal and neither 0 nor 1, or there are fewer than two: what the gate will see cannot be computed`;
  }
  const { items, detectable, needed_items: needs, power, correlation, measured_with: other } = sight;
  const from =
    other === null
      ? `correlation ${correlation} assumed`
      : `correlation ${Number(correlation.toPrecision(2))} of the last comparison, with ${other}`;
  const needed = needs === null ? '' : `; ${pointsOf(drop)} need ${needs.toLocaleString('en-US')}`;
  const seen = `With ${items.toLocaleString('en-US')} items you will see a drop of ${pointsOf(detectable)}${needed}`;
  const variance = sight.variance_assumed
    ? `variance assumed: the Wilson bound of ${baseline}, whose scores are all equal`
    : `variance of ${baseline}`;
  return `${seen} (power ${power}, ${variance}, ${from})`;
}

/** `1 point`, `7.9 points`. */
export function pointsOf(drop: number): string {
  const points = Number((drop * 100).toPrecision(2));
  return points === 1 ? '1 point' : `${points} points`;
}
