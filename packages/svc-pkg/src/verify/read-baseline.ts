import {
  createRunHasher,
  hashedResult,
  MAIN_RECORD,
  namesScorers,
  parseLines,
  recordText,
  splitLines,
} from '@svc/jsonl-v23/internal';
import {
  canonicalJson,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@svc/jsonl-v23/json';
import type { PackageReader } from '@svc/pkg-format';
import type { Bar, PairSums } from '../evaluation.ts';
import type { Findings } from './findings.ts';
import { clusteredSpread, metricOf, type ScoredView } from './scorer-sums.ts';

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

/** The lines of a file of a package, parsed. @throws PackageError, JsonlError */
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

/** A member of a value; null if it has none. */
export const memberOf = (value: JsonValue | undefined, name: string): JsonValue =>
  isJsonObject(value ?? null) ? (getMember(value as JsonObject, name) ?? null) : null;

/** What a run compares with: the value of each item by its hash, and of equal items in their order. */
export type BaselineValues = ReadonlyMap<string, readonly number[]>;

/**
 * Reads the baseline of a bar: from the package of the run, or from its own. Its hash must match its records.
 *
 * @throws PackageError, JsonlError
 */
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
    views.push(viewOf(record, bar.scorer ?? main, main));
    found.trust('baseline_scores');
  }
  flush();
  found.compare(`${place}/id`, memberOf(stated, 'id'), bar.baseline ?? null);
  if (found.compare(`${place}/run_hash`, memberOf(stated, 'run_hash'), hasher.digest())) {
    found.prove('baseline_run_hash');
  }
  return values;
}

function viewOf(record: JsonValue, scorer: string, main: string): ScoredView {
  const said = memberOf(memberOf(record, 'scores'), scorer);
  const score = memberOf(said, 'score') as number | null;
  const passed = memberOf(said, 'passed') as boolean | null;
  const hasFailed = memberOf(record, 'status') === 'failed' || (scorer !== main && passed === false);
  return {
    status: score !== null ? 'ok' : hasFailed ? 'failed' : 'unscored',
    score,
    passed: score === null ? null : passed,
  };
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
