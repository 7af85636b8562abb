import { canonicalJson, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { type LineBatch, splitLines } from '@svc/jsonl-v23/lines';
import { barHash, PACKAGED_RUN_FIELDS, type PackagedRun } from '@svc/jsonl-v23/runs';
import { PackageError } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { sanitiseRunConfig } from '../secrets/sanitise-run-config.ts';
import { collectBytes } from '../zip/byte-source.ts';
import {
  BAR_FILE,
  isPackageManifest,
  MANIFEST_FILE,
  RESULTS_FILE,
  type ReadOptions,
  RUN_CONFIG_FILE,
} from './layout.ts';
import { parseJsonFile } from './open-archive.ts';
import {
  type CountedSections,
  createSectionFinder,
  type LocatedResult,
  MAX_REPETITIONS,
  MEMBER_READERS,
  type PackageResult,
  type ResultKey,
  type ResultLineOptions,
  readResultLines,
} from './run-results.ts';

/** What every reading takes. */
export interface SignalOptions {
  /** Aborting it ends the reading with its reason. */
  readonly signal?: AbortSignal | undefined;
}

type ReadLines<R extends ResultKey> = (
  batch: LineBatch,
  options: ResultLineOptions,
) => Promise<readonly LocatedResult<R>[]>;

/** The run that a package holds. It has ended: a run that was exported before its end is cancelled. */
export interface PackageRun extends PackagedRun {
  /** Without secrets; empty if the package has none. */
  readonly config: JsonObject;
  /** How often it executed each item; null if unknown. */
  readonly repetitions: number | null;
  /** Results of the whole run, as the package states; null if it does not. */
  readonly total: number | null;
  /** Canonical text of what it had to reach; null without a bar. */
  readonly bar: string | null;
  /** What the package says of the bar; null if it says nothing. */
  readonly verdict: JsonObject | null;
  /**
   * Reads the results in item order, a batch of lines at a time.
   *
   * @param sections all sections in order, which the results refer to
   * @throws PackageError `package_invalid_line` with file and line, also for a result of no item or a second one of an
   *   item; `package_hash_mismatch` for another number of results than the manifest states; `package_limit`,
   *   `package_corrupt`
   */
  results(sections: CountedSections, options?: SignalOptions): AsyncGenerator<readonly PackageResult[]>;
  /**
   * Reads the results with another way to read a batch of lines, such as {@link readResultLines} on a thread.
   *
   * @throws as `results`, and what `read` throws
   */
  resultsBy<R extends ResultKey>(
    read: ReadLines<R>,
    sections: CountedSections,
    options?: SignalOptions,
  ): AsyncGenerator<readonly (R & Pick<PackageResult, 'sectionOrderIndex'>)[]>;
}

export interface RunFiles {
  readonly manifest: JsonObject | null;
  readonly meta: JsonObject | null;
  readonly limits: PackageLimits;
  explain(error: unknown, file: string, options?: SignalOptions): Promise<unknown>;
  has(path: string): boolean;
  read(path: string, options: ReadOptions): AsyncIterable<Uint8Array>;
}

/** Bytes of `run_config.json`: as many as a request to create a run may have. */
const MAX_CONFIG_BYTES = 1024 * 1024;

export async function readPackageRun(files: RunFiles, { signal }: SignalOptions = {}): Promise<PackageRun> {
  const { manifest, meta, limits } = files;
  const stated = isPackageManifest(manifest) ? memberObject(manifest, 'run') : null;
  const config = await readConfig(files, signal);
  const repetitions = integerOf(config, 'repetitions', 1, MAX_REPETITIONS);
  const header = readHeader(stated);
  return {
    ...header,
    bar: stated === null ? null : await readBar(files, header.barHash, signal),
    verdict: memberObject(memberObject(meta, 'run'), 'verdict'),
    config,
    repetitions,
    total: integerOf(memberObject(memberObject(meta, 'run'), 'counts'), 'total', 0, Number.MAX_SAFE_INTEGER),

    results: (sections, given) =>
      resultsBy(async (batch, options) => readResultLines(batch, options), sections, given),
    resultsBy,
  };

  async function* resultsBy<R extends ResultKey>(
    read: ReadLines<R>,
    sections: CountedSections,
    { signal }: SignalOptions = {},
  ): AsyncGenerator<readonly (R & Pick<PackageResult, 'sectionOrderIndex'>)[]> {
    const { maxLineBytes } = limits;
    const findSection = createSectionFinder(sections, repetitions ?? MAX_REPETITIONS);
    let count = 0;
    try {
      const bytes = files.read(RESULTS_FILE, { signal });
      const options = { file: RESULTS_FILE, maxLineBytes, signal };
      for await (const batch of splitLines(bytes, options)) {
        const results = await read(batch, limits);
        count += results.length;
        yield results.map(({ result, location }) => {
          return { ...result, sectionOrderIndex: findSection(result, location) };
        });
      }
    } catch (error) {
      throw await files.explain(error, RESULTS_FILE, { signal });
    }
    checkResultCount(manifest, count);
  }
}

export function checkResultCount(manifest: JsonObject | null, count: number): void {
  if (!isPackageManifest(manifest)) return;
  const stated = getMember(memberObject(manifest, 'run') ?? {}, 'results');
  if (stated === undefined || stated === count) return;
  throw new PackageError(
    'package_hash_mismatch',
    `The run has ${count} results; the manifest states ${typeof stated === 'number' ? stated : 'something else'}.`,
    { entry: MANIFEST_FILE, location: { file: MANIFEST_FILE, path: '/run/results' } },
  );
}

async function readConfig(files: RunFiles, signal: AbortSignal | undefined): Promise<JsonObject> {
  return files.has(RUN_CONFIG_FILE)
    ? sanitiseRunConfig(await readObject(files, RUN_CONFIG_FILE, signal))
    : {};
}

async function readObject(
  { limits, read }: RunFiles,
  path: string,
  signal: AbortSignal | undefined,
): Promise<JsonObject> {
  const maxBytes = Math.min(limits.maxLineBytes, MAX_CONFIG_BYTES);
  const bytes = await collectBytes(read(path, { maxBytes, signal }));
  return parseJsonFile(bytes, path, limits.maxDepth);
}

/** @throws PackageError `package_invalid_json`; `package_hash_mismatch` unless the manifest states its hash */
async function readBar(
  files: RunFiles,
  stated: string | null,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const bar = files.has(BAR_FILE) ? canonicalJson(await readObject(files, BAR_FILE, signal)) : null;
  const hash = bar === null ? null : barHash(bar);
  if (hash === stated) return bar;
  throw new PackageError(
    'package_hash_mismatch',
    `The bar has the hash ${hash}; the manifest states ${stated}.`,
    { entry: BAR_FILE, location: { file: MANIFEST_FILE, path: '/run/bar_hash' } },
  );
}

/** Reads what the manifest states of its run. @throws PackageError `package_invalid_json` */
function readHeader(run: JsonObject | null): PackagedRun {
  const header: Record<string, unknown> = {};
  for (const field of PACKAGED_RUN_FIELDS) {
    const { read, wanted } = MEMBER_READERS[field.kind];
    const member = memberOf(run, field.wire) ?? null;
    const value = member === null ? null : read(member, field);
    if (value === undefined) throw invalidMember(field.wire, wanted(field));
    header[field.name] = value;
  }
  const status =
    memberOf(run, 'incomplete') === true && header['status'] === 'completed' ? 'cancelled' : header['status'];
  const hasEnded = status === null || status === 'completed' || status === 'failed';
  const { error } = header as PackagedRun;
  const isStopped = status === 'stopped' || error?.code === 'budget_spent';
  return {
    ...(header as PackagedRun),
    status: hasEnded ? (status ?? 'completed') : isStopped ? 'stopped' : 'cancelled',
  };
}

function invalidMember(key: string, wanted: string): PackageError {
  return new PackageError('package_invalid_json', `The ${key} of the manifest's run must be ${wanted}.`, {
    entry: MANIFEST_FILE,
    location: { file: MANIFEST_FILE, path: `/run/${key}` },
  });
}

const memberOf = (object: JsonObject | null, key: string): JsonValue | undefined =>
  object === null ? undefined : getMember(object, key);

function memberObject(object: JsonObject | null, key: string): JsonObject | null {
  const value = memberOf(object, key);
  return isJsonObject(value) ? value : null;
}

function integerOf(object: JsonObject | null, key: string, minimum: number, maximum: number): number | null {
  const value = memberOf(object, key);
  const isInRange =
    typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum;
  return isInRange ? value : null;
}
