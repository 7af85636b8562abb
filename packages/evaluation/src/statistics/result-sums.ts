import type { ResultSums } from './group-scores.ts';
import type { Spread } from './intervals.ts';

/** Items that are alike in the counts of their results by one scorer. */
export interface AlikeItems {
  /** For each item: the results that passed, failed or are failed requests; the passed ones; and the failed ones. */
  readonly tries: number;
  readonly passes: number;
  readonly wrong: number;
  /** For each item: results with a score. */
  readonly scored: number;
  readonly items: number;
  readonly results: number;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
  readonly scoreSum: number;
  readonly isBinary: boolean;
  /** Mean and variance of the items' mean scores; null without a scored item. */
  readonly scoreMean: number | null;
  readonly scoreVariance: number | null;
}

/** How results spread if items are clustered: scores, passed ones of the due ones, and of those that passed or failed. */
export type ClusteredSpreads = {
  readonly [Name in `${'score' | 'due' | 'share'}${'Values' | 'Clusters' | 'Squares'}`]: number;
};

const COUNTS = ['results', 'ok', 'failed', 'unscored', 'scoreSum'] as const;

/**
 * Adds up the sums of the parts of a group.
 *
 * @param clustered how its results spread if items are clustered; undefined if each is on its own
 */
export function addUp(rows: readonly AlikeItems[], clustered: ClusteredSpreads | undefined): ResultSums {
  const sumOf = (of: (row: AlikeItems) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const sums = Object.fromEntries(COUNTS.map((name) => [name, sumOf((row) => row[name])])) as Readonly<
    Record<(typeof COUNTS)[number], number>
  >;
  return {
    ...sums,
    scored: sumOf(({ items, scored }) => items * scored),
    passed: sumOf(({ items, passes }) => items * passes),
    wrong: sumOf(({ items, wrong }) => items * wrong),
    scoredItems: sumOf(({ items, scored }) => (scored > 0 ? items : 0)),
    isBinary: rows.every(({ isBinary }) => isBinary),
    ...(clustered === undefined
      ? {
          scoreSpread: spreadOf(
            rows.map(({ items, scored, scoreMean, scoreVariance }) => {
              return { items, results: scored, mean: scoreMean ?? 0, variance: scoreVariance ?? 0 };
            }),
          ),
          // Items that are alike have the same share.
          scoredSpread: spreadOf(
            rows.map(({ items, passes, wrong }) => {
              const results = passes + wrong;
              return { items, results, mean: passes / results, variance: 0 };
            }),
          ),
          dueSpread: spreadOf(
            rows.map(({ items, tries, passes }) => {
              return { items, results: tries, mean: passes / tries, variance: 0 };
            }),
          ),
        }
      : {
          scoreSpread: {
            values: clustered.scoreValues,
            clusters: clustered.scoreClusters,
            squares: clustered.scoreSquares,
          },
          scoredSpread: {
            values: clustered.shareValues,
            clusters: clustered.shareClusters,
            squares: clustered.shareSquares,
          },
          dueSpread: {
            values: clustered.dueValues,
            clusters: clustered.dueClusters,
            squares: clustered.dueSquares,
          },
        }),
    passCounts: rows.map(({ tries, passes, items }) => ({ tries, passed: passes, items })),
  };
}

/** Items with equally many results: the mean and the variance of the items' means. */
interface ItemsAlike {
  readonly items: number;
  readonly results: number;
  readonly mean: number;
  readonly variance: number;
}

/** How results spread, those of an item together. The differences are from the mean, so that no digits cancel. */
function spreadOf(parts: readonly ItemsAlike[]): Spread {
  const counted = parts.filter(({ results }) => results > 0);
  const sumOf = (of: (part: ItemsAlike) => number): number =>
    counted.reduce((sum, part) => sum + of(part), 0);
  const values = sumOf(({ items, results }) => items * results);
  const center = sumOf(({ items, results, mean }) => items * results * mean) / values;
  return {
    values,
    clusters: sumOf(({ items }) => items),
    squares: sumOf(
      ({ items, results, mean, variance }) => items * results ** 2 * (variance + (mean - center) ** 2),
    ),
  };
}
