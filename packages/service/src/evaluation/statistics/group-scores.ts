import {
  CONFIDENCE,
  type Interval,
  meanInterval,
  type Spread,
  shareInterval,
  standardError,
} from './intervals.ts';

interface Counts {
  readonly results: number;
  readonly ok: number;
  readonly failed: number;
  readonly unscored: number;
}

type ResultSums = ReturnType<typeof addUp>;

export type GroupScores = ReturnType<typeof groupScores>;

/** Fewer items or clusters say little, whatever their interval. */
const FEW = 10;

const SCALE: Interval = [0, 1];

/**
 * The scores of some results by one scorer, with 95 % intervals: Student's t for means, Wilson's for shares and for scores
 * that are all 0 or 1. No interval leaves the scale from 0 to 1.
 *
 * @param repetitions of the run
 * @param confidence of the intervals, whatever their names say
 */
export function groupScores(sums: ResultSums, repetitions: number, confidence: number = CONFIDENCE) {
  const { results, ok, failed, unscored, scored, passed, wrong, scoreSpread } = sums;
  const decided = passed + wrong;
  const due = scored > 0 && decided === 0 ? 0 : decided + failed;
  const passCounts = due === 0 ? [] : sums.passCounts;
  const mean = scored === 0 ? null : sums.scoreSum / scored;
  return {
    /** Over all scored results. */
    mean,
    stderr: standardError(scoreSpread),
    ci95: mean === null ? null : scoreInterval(mean, sums, confidence),
    passed,
    /** Scored results that have failed. */
    wrong,
    no_output: failed,
    /** Of passed, failed and failed requests. Null if there are scores, and none of them has passed or failed. */
    pass_rate: due === 0 ? null : passed / due,
    pass_rate_ci95: due === 0 ? null : shareInterval(passed / due, sums.dueSpread, confidence),
    /** Of passed and failed. */
    pass_rate_scored: decided === 0 ? null : passed / decided,
    pass_rate_scored_ci95:
      decided === 0 ? null : shareInterval(passed / decided, sums.scoredSpread, confidence),
    pass_at_k: passAtK(passCounts, repetitions),
    pass_hat_k: passHatK(passCounts, repetitions),
    results,
    ok,
    failed,
    unscored,
    warnings: results === 0 ? [] : warningsOf(sums),
  };
}

function scoreInterval(
  mean: number,
  { isBinary, scoreSpread }: ResultSums,
  confidence: number,
): Interval | null {
  return isBinary
    ? shareInterval(mean, scoreSpread, confidence)
    : meanInterval(mean, scoreSpread, SCALE, confidence);
}

function warningsOf({ scoredItems: items, scoreSpread: { clusters } }: ResultSums) {
  if (items < FEW) {
    const message = `${items === 0 ? 'No' : `Only ${items}`} scored ${items === 1 ? 'item' : 'items'}: the scores say little.`;
    return [{ code: 'few_items' as const, message }];
  }
  if (clusters >= FEW) return [];
  const message = `Only ${clusters} ${clusters === 1 ? 'cluster' : 'clusters'} of items: the scores say little.`;
  return [{ code: 'few_clusters' as const, message }];
}

/** Items with equally many tries and passes. */
interface PassCount {
  /** Results of the item that have passed or failed, and failed requests. */
  readonly tries: number;
  readonly passed: number;
  readonly items: number;
}

/**
 * The unbiased estimator of pass@k (Chen et al., "Evaluating Large Language Models Trained on Code", 2021, section 2.1):
 * the mean over items of the chance that at least one of k of their n tries passes, 1 - C(n - c, k) / C(n, k).
 *
 * @returns by k from 1, up to the most tries of an item
 */
export function passAtK(counts: readonly PassCount[], maxK: number): Readonly<Record<string, number>> {
  return byK(counts, maxK, ({ tries, passed }, k) => 1 - chanceOfAll(tries, tries - passed, k));
}

/**
 * The unbiased estimator of pass^k (Yao et al., "τ-bench", 2024, section 3): the mean over items of the chance that all of
 * k of their n tries pass, C(c, k) / C(n, k).
 *
 * @returns by k as {@link passAtK}
 */
export function passHatK(counts: readonly PassCount[], maxK: number): Readonly<Record<string, number>> {
  return byK(counts, maxK, ({ tries, passed }, k) => chanceOfAll(tries, passed, k));
}

function byK(
  counts: readonly PassCount[],
  maxK: number,
  chance: (count: PassCount, k: number) => number,
): Readonly<Record<string, number>> {
  const result: Record<string, number> = {};
  for (let k = 1; k <= maxK; k += 1) {
    let sum = 0;
    let items = 0;
    for (const count of counts) {
      if (count.tries < k) continue;
      sum += count.items * chance(count, k);
      items += count.items;
    }
    if (items > 0) result[k] = sum / items;
  }
  return result;
}

/** The chance that k of n tries are all among the `chosen`. It is a product, since the binomial coefficients overflow. */
function chanceOfAll(tries: number, chosen: number, k: number): number {
  if (chosen < k) return 0;
  let chance = 1;
  for (let i = chosen + 1; i <= tries; i += 1) chance *= 1 - k / i;
  return chance;
}

/** Items that are alike in the counts of their results by one scorer. */
export interface AlikeItems extends Counts {
  /** For each item: the results that passed, failed or are failed requests; the passed ones; and the failed ones. */
  readonly tries: number;
  readonly passes: number;
  readonly wrong: number;
  /** For each item: results with a score. */
  readonly scored: number;
  readonly items: number;
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
export function addUp(rows: readonly AlikeItems[], clustered: ClusteredSpreads | undefined) {
  const sumOf = (of: (row: AlikeItems) => number): number => rows.reduce((sum, row) => sum + of(row), 0);
  const sums = Object.fromEntries(COUNTS.map((name) => [name, sumOf((row) => row[name])])) as Readonly<
    Record<(typeof COUNTS)[number], number>
  >;
  return {
    ...sums,
    scored: sumOf(({ items, scored }) => items * scored),
    // A score between 0 and 1 alone neither passes nor fails.
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
          // Failed requests count too.
          dueSpread: spreadOf(
            rows.map(({ items, tries, passes }) => {
              return { items, results: tries, mean: passes / tries, variance: 0 };
            }),
          ),
        }
      : {
          scoreSpread: clusteredSpread(clustered, 'score'),
          scoredSpread: clusteredSpread(clustered, 'share'),
          dueSpread: clusteredSpread(clustered, 'due'),
        }),
    passCounts: rows.map(({ tries, passes, items }) => ({ tries, passed: passes, items })),
  };
}

function clusteredSpread(spreads: ClusteredSpreads, of: 'score' | 'share' | 'due'): Spread {
  return {
    values: spreads[`${of}Values`],
    clusters: spreads[`${of}Clusters`],
    squares: spreads[`${of}Squares`],
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
