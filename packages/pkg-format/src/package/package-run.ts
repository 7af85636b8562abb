import { isDatasetName, type LineBatch, splitLines } from '@svc/jsonl-v23/internal';
import { getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PackageError } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { sanitiseRunConfig } from '../secrets/sanitise-run-config.ts';
import { collectBytes } from './collect-bytes.ts';
import { MANIFEST_FILE, RESULTS_FILE, RUN_CONFIG_FILE } from './layout.ts';
import { isPackageManifest } from './manifest.ts';
import type { ReadOptions } from './open-archive.ts';
import { parseJsonFile } from './parse-json-file.ts';
import {
  type CountedSections,
  createSectionFinder,
  type LocatedResult,
  type PackageResult,
  type ResultKey,
  type ResultLineOptions,
  readResultLines,
} from './run-results.ts';
import { MAX_REPETITIONS, type RunError, readRunError } from './run-values.ts';
import type { SignalOptions } from './signal-options.ts';

/** Reads lines of `results.jsonl`. */
type ReadLines<R extends ResultKey> = (
  batch: LineBatch,
  options: ResultLineOptions,
) => Promise<readonly LocatedResult<R>[]>;

/** The run that a package holds. It has finished: one that had not when it was exported is cancelled. */
export interface PackageRun {
  /** Its UUID where it was exported; null if unknown. */
  readonly id: string | null;
  readonly name: string | null;
  readonly status: 'completed' | 'failed' | 'cancelled';
  readonly error: RunError | null;
  /** 64 hex digits; null if unknown. */
  readonly datasetVersionHash: string | null;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  /** Without secrets; empty if the package has none. */
  readonly config: JsonObject;
  /** How often it executed each item; null if unknown. */
  readonly repetitions: number | null;
  /** Results of the whole run, as the package states; null if it does not. */
  readonly total: number | null;
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
   * The same with another way to read a batch of lines, such as {@link readResultLines} on a thread.
   *
   * @throws as `results`, and what `read` throws
   */
  resultsBy<R extends ResultKey>(
    read: ReadLines<R>,
    sections: CountedSections,
    options?: SignalOptions,
  ): AsyncGenerator<readonly (R & Pick<PackageResult, 'sectionOrderIndex'>)[]>;
}

/** What reading a run needs of a package. */
export interface RunFiles {
  readonly manifest: JsonObject | null;
  readonly meta: JsonObject | null;
  readonly limits: PackageLimits;
  has(path: string): boolean;
  read(path: string, options: ReadOptions): AsyncIterable<Uint8Array>;
  explain(error: unknown, file: string, options?: SignalOptions): Promise<unknown>;
}

/** Bytes of `run_config.json`: as many as a request to create a run may have. */
const MAX_CONFIG_BYTES = 1024 * 1024;

/** See `PackageReader.readRun`. */
export async function readPackageRun(
  files: RunFiles,
  { signal }: SignalOptions = {},
): Promise<PackageRun | null> {
  if (!files.has(RESULTS_FILE)) return null;
  const { manifest, meta, limits } = files;
  const stated = isPackageManifest(manifest) ? memberObject(manifest, 'run') : null;
  const config = await readConfig(files, signal);
  const repetitions = integerOf(config, 'repetitions', 1, MAX_REPETITIONS);
  const status = statusOf(stated);
  return {
    id: textMatching(stated, 'id', UUID),
    name: nameOf(stated),
    status,
    error: errorOf(stated),
    datasetVersionHash: textMatching(stated, 'dataset_version_hash', VERSION_HASH),
    startedAt: timeOf(stated, 'started_at'),
    finishedAt: timeOf(stated, 'finished_at'),
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
      const bytes = files.read(RESULTS_FILE, { ...(signal && { signal }) });
      const options = { file: RESULTS_FILE, maxLineBytes, ...(signal && { signal }) };
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

/**
 * Compares the number of results with the manifest.
 *
 * @throws PackageError `package_hash_mismatch`
 */
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
  if (!files.has(RUN_CONFIG_FILE)) return {};
  const maxBytes = Math.min(files.limits.maxLineBytes, MAX_CONFIG_BYTES);
  const bytes = await collectBytes(files.read(RUN_CONFIG_FILE, { maxBytes, ...(signal && { signal }) }));
  return sanitiseRunConfig(parseJsonFile(bytes, RUN_CONFIG_FILE, files.limits.maxDepth));
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const VERSION_HASH = /^[0-9a-f]{64}$/;
const TIME = /^(?:19[7-9]\d|[2-9]\d{3})-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/;

function statusOf(run: JsonObject | null): PackageRun['status'] {
  const status = memberOf(run, 'status') ?? 'completed';
  if (status === 'completed' || status === 'failed') return status;
  if (['cancelled', 'cancelling', 'running', 'queued'].some((known) => known === status)) return 'cancelled';
  throw invalidMember('status', 'the status of a run');
}

function nameOf(run: JsonObject | null): string | null {
  const name = memberOf(run, 'name') ?? null;
  if (name === null) return null;
  if (!isDatasetName(name))
    throw invalidMember('name', '1 to 255 characters without control characters, or null');
  return name;
}

function errorOf(run: JsonObject | null): RunError | null {
  const error = readRunError(memberOf(run, 'error'));
  if (error === undefined) throw invalidMember('error', 'an object with code and message, or null');
  return error;
}

function timeOf(run: JsonObject | null, key: string): Date | null {
  const text = memberOf(run, key) ?? null;
  if (text === null) return null;
  const time = typeof text === 'string' && TIME.test(text) ? new Date(text) : null;
  if (time === null || Number.isNaN(time.getTime())) {
    throw invalidMember(key, 'a time in ISO 8601 with "Z", or null');
  }
  return time;
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

function textMatching(object: JsonObject | null, key: string, pattern: RegExp): string | null {
  const value = memberOf(object, key);
  return typeof value === 'string' && pattern.test(value) ? value : null;
}

function integerOf(object: JsonObject | null, key: string, minimum: number, maximum: number): number | null {
  const value = memberOf(object, key);
  const isInRange =
    typeof value === 'number' && Number.isInteger(value) && value >= minimum && value <= maximum;
  return isInRange ? value : null;
}
