import {
  type AlikeItems,
  addUp,
  type ClusteredSpreads,
  type GroupScores,
  groupScores,
  type PairSums,
} from '../evaluation.ts';

export interface ScoredView {
  readonly status: 'ok' | 'failed' | 'unscored';
  readonly score: number | null;
  readonly passed: boolean | null;
}

/** The value that is compared for an item: its mean score, or the share of its passed results; null without one. */
export function metricOf(views: readonly ScoredView[], metric: 'mean' | 'pass_rate'): number | null {
  const values = views.flatMap(({ status, score, passed }) => {
    if (metric === 'mean') return score === null ? [] : [score];
    if (status === 'failed') return [0];
    return score === null || passed === null ? [] : [Number(passed)];
  });
  return values.length === 0 ? null : sumOf(values) / values.length;
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

export class ScorerSums {
  readonly #items: AlikeItems[] = [];
  readonly #clusters: (string | null)[] = [];

  /** @param cluster what the item has in common with others; null for nothing */
  add(views: readonly ScoredView[], cluster: string | null): void {
    const scores = views.flatMap(({ score }) => (score === null ? [] : [score]));
    const count = (is: (view: ScoredView) => boolean): number => views.filter(is).length;
    const isDecided = ({ score, passed }: ScoredView): boolean => score !== null && passed !== null;
    const failed = count(({ status }) => status === 'failed');
    const scoreSum = sumOf(scores);
    this.#items.push({
      tries: count((view) => isDecided(view) || view.status === 'failed'),
      passes: count(({ passed }) => passed === true),
      wrong: count((view) => isDecided(view) && view.passed === false),
      scored: scores.length,
      items: 1,
      results: views.length,
      ok: count(({ status }) => status === 'ok'),
      failed,
      unscored: count(({ status }) => status === 'unscored'),
      scoreSum,
      isBinary: scores.every((score) => score === 0 || score === 1),
      scoreMean: scores.length === 0 ? null : scoreSum / scores.length,
      scoreVariance: scores.length === 0 ? null : 0,
    });
    this.#clusters.push(cluster);
  }

  /** @param isClustered whether items with a common value depend on each other */
  scores(repetitions: number, isClustered: boolean, confidence?: number): GroupScores {
    return groupScores(
      addUp(this.#items, isClustered ? this.#spreads() : undefined),
      repetitions,
      confidence,
    );
  }

  #spreads(): ClusteredSpreads {
    const score = this.#spreadOf(({ scored, scoreSum }) => [scored, scoreSum]);
    const due = this.#spreadOf(({ tries, passes }) => [tries, passes]);
    const share = this.#spreadOf(({ passes, wrong }) => [passes + wrong, passes]);
    return {
      ...{ scoreValues: score.values, scoreClusters: score.clusters, scoreSquares: score.squares },
      ...{ dueValues: due.values, dueClusters: due.clusters, dueSquares: due.squares },
      ...{ shareValues: share.values, shareClusters: share.clusters, shareSquares: share.squares },
    };
  }

  #spreadOf(measure: (item: AlikeItems) => readonly [count: number, sum: number]) {
    return clusteredSpread(this.#items.map((item, at) => [...measure(item), this.#clusters[at] ?? null]));
  }
}

/** The spread of values that depend on each other in clusters. @param items count, sum and cluster of their values */
export function clusteredSpread(
  items: readonly (readonly [count: number, sum: number, cluster: string | null])[],
): PairSums['spread'] {
  const clusters = new Map<string | number, [values: number, sum: number]>();
  for (const [at, [count, sum, cluster]] of items.entries()) {
    const name = cluster ?? at;
    const [values, total] = clusters.get(name) ?? [0, 0];
    clusters.set(name, [values + count, total + sum]);
  }
  const found = [...clusters.values()].filter(([values]) => values > 0);
  const values = sumOf(found.map(([count]) => count));
  const center = sumOf(found.map(([, sum]) => sum)) / values;
  const squares = sumOf(found.map(([count, sum]) => (sum - count * center) ** 2));
  return { values, clusters: found.length, squares };
}
