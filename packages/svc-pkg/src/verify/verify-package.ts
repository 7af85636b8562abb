import { createSectionHasher, type EncodedItem, encodeItem, JsonlError, versionHash } from '@svc/jsonl-v23';
import { toHex } from '@svc/jsonl-v23/bytes';
import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import {
  barHash,
  createRunHasher,
  hashedResult,
  MAIN_RECORD,
  namesScorers,
  type RunHasher,
  recordText,
  SCORING,
} from '@svc/jsonl-v23/runs';
import { checkPackage, PackageError, type PackageReader, readPackageItems } from '@svc/pkg-format';
import {
  type Bar,
  barVerdict,
  compareScores,
  type GroupScores,
  isBar,
  isOlderThanBar,
  recheckOutput,
  type ScorerPlan,
  type StoredScoring,
  storedScoring,
  textAt,
} from '../evaluation.ts';
import { Findings, memberOf } from './findings.ts';
import {
  type BaselineValues,
  type ComparedItem,
  hasEntry,
  pairItems,
  readBaseline,
  readJsonEntry,
  readLines,
  type ScoredView,
  ScorerSums,
  viewOf,
} from './read-baseline.ts';

export interface VerifyOptions {
  /** The package of the run that the bar compares with. */
  readonly baseline: PackageReader | null;
  /** The hash of the run, from elsewhere. */
  readonly runHash: string | null;
  readonly signal: AbortSignal;
}

export type Verification = Awaited<ReturnType<typeof verifyPackage>>;

const RESULTS = 'results.jsonl';
const RUN = 'manifest.json /run';
const STATED_SCORES = ['mean', 'stderr', 'ci95', 'passed', 'pass_rate', 'pass_rate_ci95'] as const;
const SCORE_MEMBERS = ['score', 'passed', 'explanation', 'scored_by'] as const;

/** Limits of a run, because a package may state anything. */
const MAX_REPETITIONS = 100;
const MAX_SCORERS = 16;

/** Errors after which the archive is no readable package. */
const BROKEN: readonly PackageError['code'][] = [
  ...(['package_corrupt', 'package_limit', 'package_unsupported', 'package_unsafe_entry'] as const),
];

/**
 * Recomputes what a package states from what it holds: hashes, scores of checkers, statistics and the verdict.
 *
 * @returns what was found, the hash of the run as recomputed (null without a run, or if it cannot be read), the rules of
 *   scoring as the package states them, and whether scores were not recomputed, since these rules are not known
 * @throws PackageError for a broken archive
 */
export async function verifyPackage(pkg: PackageReader, options: VerifyOptions) {
  const found = new Findings();
  const { manifest, meta } = pkg;
  const stated = memberOf(manifest, 'run');
  const scoring = memberOf(stated, 'scoring');
  const hasRun = hasEntry(pkg, RESULTS);
  const isScoringUnknown = hasRun && scoring !== SCORING;
  const facts = { scoring: typeof scoring === 'string' ? scoring : null, isScoringUnknown, found };
  if (!(await inspect(pkg, found, options.signal)) || !hasRun) return { ...facts, runHash: null };
  const bar = await readJsonEntry(pkg, 'bar.json');
  const config = await readJsonEntry(pkg, 'run_config.json');
  const run = new RunCheck(found, {
    stated,
    config: isJsonObject(config) ? config : {},
    bar,
    meta: memberOf(meta, 'run'),
    schema: memberOf(meta, 'schema'),
    isScored: !isScoringUnknown,
  });
  const computed = await readAll(pkg, run, options.signal);
  found.compareMember(RUN, stated, 'dataset_version_hash', computed);
  const runHash = run.hasher.digest();
  const recorded = memberOf(stated, 'run_hash');
  if (recorded === null) found.trust('unstated_run_hash');
  else if (found.compare(`${RUN}/run_hash`, recorded, runHash)) found.prove('run_hash');
  if (options.runHash !== null && found.compare('--run-hash', options.runHash, runHash)) {
    found.prove('known_run_hash');
  }
  const barText = bar === null ? null : barHash(canonicalJson(bar));
  if (found.compareMember(RUN, stated, 'bar_hash', barText) && bar !== null) found.prove('bar_hash');
  found.compareMember('meta.json /run', memberOf(meta, 'run'), 'scoring', scoring);
  run.checkCounts();
  if (!isScoringUnknown) {
    run.checkScores();
    await run.checkVerdict(pkg, options);
  }
  return { ...facts, runHash };
}

/** Reports the errors of an import. @returns whether items and results are readable @throws PackageError if nothing is */
async function inspect(pkg: PackageReader, found: Findings, signal: AbortSignal): Promise<boolean> {
  let isReadable = true;
  const errors = checkPackage(pkg, { signal });
  for (;;) {
    const next = await errors.next();
    if (next.done === true) {
      if (next.value.versionHash !== null) {
        found.prove('items', next.value.itemCount);
        found.prove('version_hash');
        const files = memberOf(pkg.manifest, 'files');
        if (Array.isArray(files)) found.prove('files', files.length);
      }
      return isReadable;
    }
    const error = next.value;
    if (BROKEN.includes(error.code)) throw error;
    const { file = error.entry, line, path = '' } = error.location;
    const place = `${file ?? 'the archive'}${line === undefined ? '' : `:${line}`} ${path}`.trimEnd();
    const isHash = error.code === 'package_hash_mismatch';
    found.differ(place, isHash ? valueAt(pkg.manifest, path) : null, error.message);
    // The bar is compared with the rest of the run.
    if (!isHash) isReadable = false;
  }
}

function valueAt(value: JsonValue, pointer: string): JsonValue {
  const steps = pointer.split('/').slice(1);
  const at = (from: JsonValue, step: string): JsonValue =>
    Array.isArray(from) ? (from[Number(step)] ?? null) : memberOf(from, step);
  return steps.reduce(at, value);
}

/** Hands each item with its results to a check, in order. @returns the version hash */
async function readAll(pkg: PackageReader, run: RunCheck, signal: AbortSignal): Promise<string> {
  const results = readLines(pkg, RESULTS, signal);
  let next = await results.next();
  const hashes: Uint8Array[] = [];
  for (const section of pkg.sections) {
    const hasher = createSectionHasher(section.name);
    let at = 0;
    for await (const { item } of readPackageItems(pkg, section, { signal })) {
      signal.throwIfAborted();
      const encoded = encodeItem(item);
      hasher.add(encoded.itemHash);
      const own: LineOfResult[] = [];
      while (next.done !== true && isOf(next.value.value, section.name, at)) {
        own.push(next.value);
        next = await results.next();
      }
      run.add({ encoded, id: getMember(item, 'id') ?? null }, own);
      at += 1;
    }
    hashes.push(hasher.digest());
  }
  return versionHash(hashes);
}

type LineOfResult = ReturnType<typeof readLines> extends AsyncGenerator<infer Line> ? Line : never;

const isOf = (result: JsonObject, section: string, at: number): boolean =>
  memberOf(result, 'section') === section && memberOf(result, 'order_index') === at;

/** `run` of the manifest and of `meta.json`, its files, and whether its scores are checked. */
interface StatedRun extends Readonly<Record<'stated' | 'meta' | 'bar' | 'schema', JsonValue>> {
  readonly config: JsonObject;
  readonly isScored: boolean;
}

class RunCheck {
  readonly #found: Findings;
  readonly #run: StatedRun;
  readonly hasher: RunHasher;
  readonly #isNamed: boolean;
  readonly #scoring: StoredScoring;
  readonly #sums = new Map<string, ScorerSums>();
  readonly #compared: ComparedItem[] = [];
  readonly #counts = { done: 0, ok: 0, failed: 0, unscored: 0 };
  #outputsBefore = 0;
  readonly #names = new Set<string>();

  constructor(found: Findings, run: StatedRun) {
    this.#found = found;
    this.#run = run;
    const { config, bar, stated } = run;
    this.#isNamed = namesScorers(config);
    const scoring = storedScoring(config);
    if (scoring === null) found.trust('unknown_configuration');
    this.#scoring = scoring ?? { plans: [], reasoning: 'strip', isExternal: true };
    this.hasher = createRunHasher({
      versionHash: String(memberOf(stated, 'dataset_version_hash')),
      config: canonicalJson(config),
      bar: bar === null ? null : canonicalJson(bar),
    });
    for (const name of Object.keys(this.#statedScorers())) this.#sums.set(name, new ScorerSums());
    this.#sums.set('', new ScorerSums());
  }

  add(
    item: { readonly encoded: EncodedItem; readonly id: JsonValue },
    results: readonly LineOfResult[],
  ): void {
    if (results.length === 0) return;
    const hash = toHex(item.encoded.itemHash);
    const clusterBy = memberOf(this.#run.config, 'cluster_by');
    const value = typeof clusterBy === 'string' ? textAt(item.encoded, clusterBy) : undefined;
    const cluster = value === undefined || value === 'null' ? null : value;
    for (const { value: result, line } of results) {
      const place = `${RESULTS}:${line} `;
      this.hasher.add(recordText(hashedResult(result), this.#isNamed));
      const isStated = memberOf(result, 'item_hash') !== null;
      if (isStated) this.#found.compareMember(place, result, 'item_hash', hash);
      this.#found.compareMember(place, result, 'item_id', item.id);
      this.#checkFacts(result, place);
      if (this.#run.isScored) this.#checkResult(item.encoded, result, place);
    }
    for (const [name, sums] of this.#sums) {
      sums.add(
        results.map(({ value: result }) => this.#viewOf(result, name)),
        cluster,
      );
    }
    const bar = this.#bar();
    if (bar?.baseline === undefined) return;
    const views = results.map(({ value: result }) => this.#viewOf(result, this.#nameOf(bar)));
    this.#compared.push({ hash, views, cluster });
  }

  /** Members that repeat others, and members that only the package states. */
  #checkFacts(result: JsonObject, place: string): void {
    const found = this.#found;
    const [score, error] = [memberOf(result, 'score'), memberOf(result, 'error')];
    const due = error !== null ? 'failed' : score === null ? 'unscored' : 'ok';
    found.compareMember(place, result, 'status', due);
    found.compareMember(place, result, 'truncated', memberOf(result, 'finish_reason') === 'length');
    const repetition = Number(memberOf(result, 'repetition') ?? 1);
    found.compare(`${place}/repetition`, repetition, Math.min(repetition, this.#repetitions()));
    const scores = memberOf(result, 'scores');
    for (const name of isJsonObject(scores) ? Object.keys(scores) : []) this.#names.add(name);
    this.#counts.done += 1;
    this.#counts[due] += 1;
    const hasOutput = memberOf(result, 'output') !== null;
    if (hasOutput) found.trust('outputs');
    if (memberOf(result, 'usage') !== null) found.trust('usage');
    const labels = memberOf(result, 'labels');
    if (Array.isArray(labels)) found.trust('labels', labels.length);
    const provider = memberOf(memberOf(this.#run.config, 'provider'), 'type');
    if (hasOutput && (isOlderThanBar(provider) || memberOf(result, 'reused') === true)) {
      this.#outputsBefore += 1;
    }
  }

  #checkResult(encoded: EncodedItem, result: JsonObject, place: string): void {
    const [main] = this.#scoring.plans;
    const own = memberOf(result, 'scores');
    const scores = isJsonObject(own) ? own : {};
    if (this.#isNamed && main !== undefined && Object.hasOwn(scores, main.name)) {
      for (const member of SCORE_MEMBERS)
        this.#found.compareMember(place, result, member, memberOf(scores[main.name], member));
    }
    for (const plan of this.#scoring.plans) {
      const isMain = plan === main;
      const said = isMain && !this.#isNamed ? result : (scores[plan.name] ?? null);
      const at = isMain && !this.#isNamed ? place : `${place}/scores/${plan.name}`;
      this.#recheck(encoded, result, said, plan, at);
    }
    const known = new Set(this.#scoring.plans.map(({ name }) => name));
    if (this.#scoring.plans.length === 0) this.#trustScore(result);
    for (const [name, said] of Object.entries(scores)) if (!known.has(name)) this.#trustScore(said);
  }

  /** A score that cannot be recomputed here. */
  #trustScore(said: JsonValue): void {
    if (memberOf(said, 'score') === null && memberOf(said, 'passed') === null) return;
    this.#found.trust(`${memberOf(said, 'scored_by') ?? 'client'}_scores`);
  }

  #recheck(encoded: EncodedItem, result: JsonObject, said: JsonValue, plan: ScorerPlan, at: string): void {
    const found = this.#found;
    const isFromOutside = this.#scoring.isExternal && memberOf(said, 'scored_by') !== 'checker';
    if (isFromOutside) this.#trustScore(said);
    else if (Number(memberOf(result, 'redacted') ?? 0) > 0) found.trust('redacted');
    else this.#recompute(encoded, result, said, plan, at);
  }

  #recompute(encoded: EncodedItem, result: JsonObject, said: JsonValue, plan: ScorerPlan, at: string): void {
    const found = this.#found;
    const output = memberOf(result, 'output');
    const error = memberOf(memberOf(result, 'error'), 'code');
    if (output === null) {
      for (const member of ['score', 'passed']) found.compareMember(at, said, member, null);
      return;
    }
    if (typeof error === 'string' && !/^(?:checker|judge)_/.test(error)) {
      found.trust('failed_outputs');
      return;
    }
    const thoughts = memberOf(result, 'reasoning');
    const checked = recheckOutput(
      {
        parts: encoded,
        output,
        thoughts: typeof thoughts === 'string' ? thoughts : null,
        reasoning: this.#scoring.reasoning,
        defaultPrompts: valueAt(this.#run.schema, '/package/meta/default_judge_prompts'),
      },
      plan,
    );
    if (checked === null) {
      found.trust(memberOf(said, 'score') === null ? 'unanswered_judges' : 'judge_scores');
      return;
    }
    const isSame = SCORE_MEMBERS.map((member) => found.compareMember(at, said, member, checked[member]));
    const code = checked.error?.code ?? null;
    if (!found.compareMember(`${at}/error`, memberOf(said, 'error'), 'code', code)) return;
    if (isSame.every(Boolean)) found.prove('scores');
  }

  /** A result by a scorer; by the main one without a name. */
  #viewOf(result: JsonObject, name: string): ScoredView {
    const said = name === '' ? result : memberOf(memberOf(result, 'scores'), name);
    return viewOf(result, said, name === '');
  }

  #statedScorers(): JsonObject {
    const scorers = memberOf(this.#run.meta, 'scorers');
    if (!isJsonObject(scorers)) return {};
    return Object.fromEntries(Object.entries(scorers).slice(0, MAX_SCORERS));
  }

  /** The name under which the results have the scorer of a bar; empty for the main one of a run that names none. */
  #nameOf({ scorer }: Bar): string {
    return scorer === undefined || (scorer === MAIN_RECORD && !this.#isNamed) ? '' : scorer;
  }

  #bar(): Bar | null {
    const { bar } = this.#run;
    return bar !== null && isBar(bar) ? (bar as unknown as Bar) : null;
  }

  #scores(name: string, confidence?: number): GroupScores | null {
    const isClustered = typeof memberOf(this.#run.config, 'cluster_by') === 'string';
    return this.#sums.get(name)?.scores(this.#repetitions(), isClustered, confidence) ?? null;
  }

  #repetitions(): number {
    const stated = Number(memberOf(this.#run.config, 'repetitions') ?? 1);
    return Math.min(Math.max(1, stated), MAX_REPETITIONS);
  }

  checkCounts(): void {
    const counts = memberOf(this.#run.meta, 'counts');
    for (const [name, count] of Object.entries(this.#counts)) {
      if (this.#found.compareMember('meta.json /run/counts', counts, name, count))
        this.#found.prove('counts');
    }
    const { stated } = this.#run;
    const total = Number(memberOf(counts, 'total') ?? 0);
    const isWhole = memberOf(stated, 'status') === 'completed' && !this.#scoring.isExternal;
    if (total < this.#counts.done || (isWhole && total !== this.#counts.done)) {
      this.#found.differ('meta.json /run/counts/total', total, this.#counts.done);
    }
  }

  checkScores(): void {
    const stated: [string, JsonValue, string][] = [['', memberOf(this.#run.meta, 'scores'), 'scores']];
    const scorers = this.#statedScorers();
    for (const name of this.#names) {
      if (!Object.hasOwn(scorers, name)) this.#found.differ(`meta.json /run/scorers/${name}`, null, name);
    }
    for (const [name, of] of Object.entries(scorers)) stated.push([name, of, `scorers/${name}`]);
    for (const [name, of, at] of stated) {
      const scores = this.#scores(name) as unknown as JsonObject;
      for (const member of STATED_SCORES) {
        const isSame = this.#found.compareMember(`meta.json /run/${at}`, of, member, scores[member] ?? null);
        if (isSame) this.#found.prove('statistics');
      }
    }
  }

  /** Null if it cannot be read, which is a difference. */
  async #baselineOf(
    pkg: PackageReader,
    bar: Bar,
    options: Parameters<typeof readBaseline>[3],
  ): Promise<BaselineValues | null> {
    try {
      return await readBaseline(pkg, bar, this.#found, options);
    } catch (error) {
      if (!(error instanceof JsonlError || error instanceof PackageError)) throw error;
      this.#found.differ(options.isOwnPackage ? '--baseline' : 'baseline/', null, error.message);
      return null;
    }
  }

  async checkVerdict(pkg: PackageReader, { baseline, signal }: VerifyOptions): Promise<void> {
    const place = 'meta.json /run/verdict';
    const { stated, meta } = this.#run;
    const verdict = memberOf(meta, 'verdict');
    const bar = this.#bar();
    if (bar === null || memberOf(stated, 'run_hash') === null) {
      this.#found.compare(place, verdict, null);
      return;
    }
    this.#found.compareMember(place, verdict, 'outputs_before', this.#outputsBefore);
    this.#found.trust('sealed_at');
    let scores: Parameters<typeof barVerdict>[1] = null;
    if (bar.baseline === undefined) scores = this.#scores(this.#nameOf(bar), bar.confidence);
    else {
      const isOwnPackage = baseline !== null;
      if (!isOwnPackage && !hasEntry(pkg, 'baseline/results.jsonl')) {
        this.#found.trust('verdict');
        return;
      }
      const values = await this.#baselineOf(baseline ?? pkg, bar, { isOwnPackage, signal });
      if (values === null) return;
      const pairs = pairItems(this.#compared, values, bar.metric);
      scores = compareScores(pairs, bar.confidence);
    }
    const expected = barVerdict(bar, scores) as unknown as JsonObject;
    const agrees = Object.entries(expected).map(([member, value]) =>
      this.#found.compareMember(place, verdict, member, value),
    );
    if (agrees.every(Boolean)) this.#found.prove('verdict');
  }
}
