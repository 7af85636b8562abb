import { canonicalJson, type JsonObject, type JsonValue, parseJson } from '@svc/jsonl-v23/json';
import { parseLines, splitLines } from '@svc/jsonl-v23/lines';
import { createRunHasher, hashedResult, MAIN_RECORD, namesScorers, recordText } from '@svc/jsonl-v23/runs';
import type { PackageReader } from '@svc/pkg-format';
import {
  type AlikeItems,
  addUp,
  type Bar,
  type ClusteredSpreads,
  type GroupScores,
  groupScores,
  type PairSums,
} from '../evaluation.ts';
import { type Findings, memberOf } from './findings.ts';

/** A JSON file of a package; null without it. @throws PackageError, JsonlError */
export async function readJsonEntry(pkg: PackageReader, path: string): Promise<JsonValue> {
  if (!hasEntry(pkg, path)) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of pkg.readEntry(path)) chunks.push(chunk);
  return parseJson(Buffer.concat(chunks).toString(), { maxDepth: pkg.limits.maxDepth });
}

export function hasEntry(pkg: PackageReader, path: string): boolean {
  try {
    pkg.readEntry(path);
    return true;
  } catch {
    return false;
  }
}

export async function* readLines(
  pkg: PackageReader,
  file: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly value: JsonObject; readonly line: number }> {
  const { maxLineBytes, maxDepth } = pkg.limits;
  for await (const batch of splitLines(pkg.readEntry(file, { signal }), { file, maxLineBytes, signal })) {
    for (const { item, location } of parseLines(batch, { file, maxDepth })) {
      yield { value: item, line: location.line ?? 0 };
    }
  }
}

/** What a run compares with: the value of each item by its hash, and of equal items in their order. */
export type BaselineValues = ReadonlyMap<string, readonly number[]>;

/** Reads the baseline of a bar: from the package of the run, or from its own. Its hash must match its records. */
export async function readBaseline(
  pkg: PackageReader,
  bar: Bar,
  found: Findings,
  { isOwnPackage, signal }: { readonly isOwnPackage: boolean; readonly signal: AbortSignal },
): Promise<BaselineValues> {
  const file = isOwnPackage ? 'results.jsonl' : 'baseline/results.jsonl';
  const [stated, place] = isOwnPackage
    ? [memberOf(pkg.manifest ?? null, 'run'), 'the baseline’s manifest.json /run']
    : [await readJsonEntry(pkg, 'baseline/run.json'), 'baseline/run.json'];
  const config = isOwnPackage ? await readJsonEntry(pkg, 'run_config.json') : memberOf(stated, 'config');
  const barOf = isOwnPackage ? await readJsonEntry(pkg, 'bar.json') : memberOf(stated, 'bar');
  const versionHash = memberOf(stated, isOwnPackage ? 'dataset_version_hash' : 'version_hash');
  const hasher = createRunHasher({
    versionHash: String(versionHash),
    config: canonicalJson(config),
    bar: barOf === null ? null : canonicalJson(barOf),
  });
  const isNamed = namesScorers(config);
  const first = memberOf(config, 'scorers');
  const main = isNamed && Array.isArray(first) ? String(memberOf(first[0], 'name')) : MAIN_RECORD;
  const scorer = bar.scorer ?? main;
  const values = new Map<string, number[]>();
  let [item, hash, views]: [string, string, ScoredView[]] = ['', '', []];
  const flush = (): void => {
    const value = metricOf(views, bar.metric);
    const equal = values.get(hash);
    if (value !== null && equal === undefined) values.set(hash, [value]);
    else if (value !== null) equal?.push(value);
    views = [];
  };
  for await (const { value } of readLines(pkg, file, signal)) {
    const text = isOwnPackage ? recordText(hashedResult(value), isNamed) : canonicalJson(value);
    hasher.add(text);
    const record = isOwnPackage ? parseJson(text) : value;
    const key = `${memberOf(record, 'order_index')} ${memberOf(record, 'section')}`;
    if (key !== item) flush();
    [item, hash] = [key, String(memberOf(record, 'item_hash'))];
    views.push(viewOf(record, memberOf(memberOf(record, 'scores'), scorer), scorer === main));
    found.trust('baseline_scores');
  }
  flush();
  found.compareMember(place, stated, 'id', bar.baseline ?? null);
  if (found.compareMember(place, stated, 'run_hash', hasher.digest())) found.prove('baseline_run_hash');
  return values;
}

/** A result by a scorer. @param said what it says of the result; for the main one, this may be the result itself */
export function viewOf(result: JsonValue, said: JsonValue, isMain: boolean): ScoredView {
  const score = memberOf(said, 'score') as number | null;
  const passed = memberOf(said, 'error') === null ? (memberOf(said, 'passed') as boolean | null) : false;
  const hasFailed = memberOf(result, 'status') === 'failed' || (!isMain && passed === false);
  const status = score !== null ? 'ok' : hasFailed ? 'failed' : 'unscored';
  return { status, score, passed: score === null ? null : passed };
}

export interface ComparedItem {
  readonly hash: string;
  readonly views: readonly ScoredView[];
  readonly cluster: string | null;
}

export function pairItems(
  items: readonly ComparedItem[],
  baseline: BaselineValues,
  metric: Bar['metric'],
): PairSums {
  const occurrences = new Map<string, number>();
  const pairs: [count: number, difference: number, cluster: string | null][] = [];
  for (const { hash, views, cluster } of items) {
    const value = metricOf(views, metric);
    if (value === null) continue;
    const occurrence = occurrences.get(hash) ?? 0;
    occurrences.set(hash, occurrence + 1);
    const other = baseline.get(hash)?.[occurrence];
    if (other !== undefined) pairs.push([1, value - other, cluster]);
  }
  const sum = pairs.reduce((total, [, difference]) => total + difference, 0);
  const none = { mean: null, otherMean: null, wins: 0, losses: 0, ties: 0 };
  return {
    ...{ ...none, decided: 0, onlyThisPassed: 0, onlyOtherPassed: 0 },
    paired: pairs.length,
    meanDifference: pairs.length === 0 ? null : sum / pairs.length,
    spread: clusteredSpread(pairs),
  };
}

export interface ScoredView {
  readonly status: 'ok' | 'failed' | 'unscored';
  readonly score: number | null;
  readonly passed: boolean | null;
}

/** The value that is compared for an item: its mean score, or the share of its passed results; null without one. */
function metricOf(views: readonly ScoredView[], metric: 'mean' | 'pass_rate'): number | null {
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
function clusteredSpread(
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
