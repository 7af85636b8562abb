import type { SourceLocation } from '@svc/jsonl-v23';
import { canonicalByteLength, type LineBatch, parseLines } from '@svc/jsonl-v23/internal';
import { ExactNumber, getMember, isJsonObject, type JsonObject, type JsonValue } from '@svc/jsonl-v23/json';
import { PackageError, quote } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { RESULTS_FILE } from './layout.ts';
import { compareNumbers, MAX_REPETITIONS, type RunError, readRunError } from './run-values.ts';

/** The result of one repetition of one item. */
export interface PackageResult {
  readonly section: string;
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  /** From 1. */
  readonly repetition: number;
  /** A string, an integer, or null if the item has no id. */
  readonly itemId: JsonValue;
  readonly status: 'ok' | 'failed' | 'unscored';
  readonly output: JsonValue;
  /** 0 to 1; null unless the status is ok. */
  readonly score: number | null;
  readonly passed: boolean | null;
  readonly explanation: string | null;
  readonly error: RunError | null;
  /** Milliseconds. */
  readonly latencyMs: number | null;
  readonly usage: JsonObject | null;
  readonly judgeUsage: JsonObject | null;
  /** Why the output ended; null if unknown. */
  readonly finishReason: string | null;
  /** Requests to the provider; null if unknown. */
  readonly attempts: number | null;
  /** Names of assets that were not sent; null if unknown. */
  readonly omittedAssets: readonly string[] | null;
}

const MAX_ATTEMPTS = 1_000_000;

/** What results refer to: the sections in order. */
export type CountedSections = readonly { readonly name: string; readonly itemCount: number }[];

/** A result as its line states it. */
type StatedResult = Omit<PackageResult, 'sectionOrderIndex'>;

/** What places a result. */
export type ResultKey = Pick<PackageResult, 'section' | 'orderIndex' | 'repetition'>;

/** A result and its line. */
export interface LocatedResult<R extends ResultKey = StatedResult> {
  readonly result: R;
  readonly location: SourceLocation;
}

/** What reading result lines needs besides the lines. */
export type ResultLineOptions = Pick<PackageLimits, 'maxLineBytes' | 'maxDepth'>;

/**
 * Reads lines of `results.jsonl`. The result depends on the arguments alone, so any thread may do it.
 *
 * @throws JsonlError with file and line; PackageError `package_invalid_line`, `package_limit`
 */
export function readResultLines(
  batch: LineBatch,
  { maxLineBytes, maxDepth }: ResultLineOptions,
): readonly LocatedResult[] {
  return parseLines(batch, { file: RESULTS_FILE, maxDepth }).map(({ item, location }) => {
    return { result: readResult(item, location, maxLineBytes), location };
  });
}

/** Reads a parsed line. @throws PackageError `package_invalid_line`, `package_limit` */
function readResult(line: JsonObject, location: SourceLocation, maxLineBytes: number): StatedResult {
  const result = new ResultFields(line, location).result();
  // Some numbers are longer in canonical form.
  if (canonicalByteLength(line) > maxLineBytes) {
    const message = `The result is longer than ${maxLineBytes} bytes.`;
    throw new PackageError('package_limit', message, errorLocation(location));
  }
  return result;
}

/** Makes what reads parsed lines of `results.jsonl` and places their results. The parameters are as for the parts. */
export function createResultReader(
  sections: CountedSections,
  { maxLineBytes }: Pick<PackageLimits, 'maxLineBytes'>,
): (line: JsonObject, location: SourceLocation) => PackageResult {
  const findSection = createSectionFinder(sections);
  return (line, location) => {
    const result = readResult(line, location, maxLineBytes);
    return { ...result, sectionOrderIndex: findSection(result, location) };
  };
}

/** Finds the section of a result. @throws PackageError `package_invalid_line` */
export type SectionFinder = (result: ResultKey, location: SourceLocation) => number;

/**
 * Makes what finds the sections of results, which must be in item order, so that no result occurs twice.
 *
 * @param maxRepetitions how often the run executed each item at most
 */
export function createSectionFinder(
  sections: CountedSections,
  maxRepetitions: number = MAX_REPETITIONS,
): SectionFinder {
  const known = new Map(sections.map(({ name, itemCount }, orderIndex) => [name, { orderIndex, itemCount }]));
  let previous: readonly number[] = [-1, -1, -1];

  return ({ section, orderIndex, repetition }, location) => {
    const found = known.get(section);
    if (found === undefined) {
      throw invalid(
        `section must name a section of the package, got ${quote(section)}.`,
        location,
        '/section',
      );
    }
    if (orderIndex >= found.itemCount) {
      throw invalid(
        `The result refers to item ${orderIndex} of section ${quote(section)}, which has ${found.itemCount} items.`,
        location,
        '/order_index',
      );
    }
    if (repetition > maxRepetitions) {
      throw invalid(
        `repetition must be at most ${maxRepetitions}, got ${repetition}.`,
        location,
        '/repetition',
      );
    }
    const position = [found.orderIndex, orderIndex, repetition];
    if (compareNumbers(position, previous) <= 0) {
      const problem = compareNumbers(position, previous) === 0 ? 'occurs twice' : 'is not in item order';
      throw invalid(`The result of item ${orderIndex} of section ${quote(section)} ${problem}.`, location);
    }
    previous = position;
    return found.orderIndex;
  };
}

/** The members of a line, with their types checked. */
class ResultFields {
  readonly #line: JsonObject;
  readonly #location: SourceLocation;

  constructor(line: JsonObject, location: SourceLocation) {
    this.#line = line;
    this.#location = location;
  }

  result(): StatedResult {
    const section = this.#value('section');
    if (typeof section !== 'string') {
      throw invalid('section must name a section of the package, got no name.', this.#location, '/section');
    }
    const orderIndex = this.#integer('order_index', 0);
    const repetition = this.#integer('repetition', 1, 1);
    return this.#outcome({ section, orderIndex, repetition });
  }

  #integer(key: string, minimum: number, fallback?: number): number {
    const value = this.#value(key) ?? fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= minimum) return value;
    throw this.#mustBe(key, `an integer of at least ${minimum}`);
  }

  #outcome(position: ResultKey): StatedResult {
    const status = this.#value('status');
    if (status !== 'ok' && status !== 'failed' && status !== 'unscored') {
      throw this.#mustBe('status', '"ok", "failed" or "unscored"');
    }
    const itemId = this.#value('item_id');
    if (itemId !== null && typeof itemId !== 'string' && !isInteger(itemId)) {
      throw this.#mustBe('item_id', 'a string, an integer or null');
    }
    const score = this.#value('score');
    if (score !== null && !(typeof score === 'number' && score >= 0 && score <= 1 && status === 'ok')) {
      throw this.#mustBe(
        'score',
        status === 'ok' ? 'a number from 0 to 1, or null' : 'null, unless the status is "ok"',
      );
    }
    const passed = this.#value('passed');
    if (passed !== null && !(typeof passed === 'boolean' && score !== null)) {
      throw this.#mustBe('passed', score === null ? 'null without a score' : 'true, false or null');
    }
    const explanation = this.#value('explanation');
    if (explanation !== null && typeof explanation !== 'string') {
      throw this.#mustBe('explanation', 'a string or null');
    }
    const error = readRunError(this.#value('error'));
    if (error === undefined) throw this.#mustBe('error', 'an object with code and message, or null');
    const latencyMs = this.#value('latency_ms');
    if (latencyMs !== null && !(typeof latencyMs === 'number' && latencyMs >= 0)) {
      throw this.#mustBe('latency_ms', 'a number of at least 0, or null');
    }
    const usage = this.#value('usage');
    if (usage !== null && !isJsonObject(usage)) throw this.#mustBe('usage', 'an object or null');
    const output = this.#value('output');
    return {
      ...{ ...position, itemId, status, output, score, passed, explanation, error, latencyMs, usage },
      ...this.#completion(),
    };
  }

  #completion(): Pick<PackageResult, 'judgeUsage' | 'finishReason' | 'attempts' | 'omittedAssets'> {
    const judgeUsage = this.#value('judge_usage');
    if (judgeUsage !== null && !isJsonObject(judgeUsage)) {
      throw this.#mustBe('judge_usage', 'an object or null');
    }
    const finishReason = this.#value('finish_reason');
    if (finishReason !== null && !(typeof finishReason === 'string' && /^[\w.-]{1,64}$/.test(finishReason))) {
      throw this.#mustBe('finish_reason', 'a name of at most 64 characters, or null');
    }
    const attempts = this.#value('attempts');
    const isCount = typeof attempts === 'number' && Number.isInteger(attempts) && attempts >= 0;
    if (attempts !== null && !(isCount && attempts <= MAX_ATTEMPTS)) {
      throw this.#mustBe('attempts', `an integer from 0 to ${MAX_ATTEMPTS}, or null`);
    }
    const omitted = this.#value('omitted_assets');
    if (omitted !== null && !(Array.isArray(omitted) && omitted.every((name) => typeof name === 'string'))) {
      throw this.#mustBe('omitted_assets', 'an array of names, or null');
    }
    return {
      judgeUsage,
      finishReason,
      attempts: attempts as number | null,
      omittedAssets: omitted as string[] | null,
    };
  }

  #value(key: string): JsonValue {
    return getMember(this.#line, key) ?? null;
  }

  #mustBe(key: string, wanted: string): PackageError {
    return invalid(`${key} must be ${wanted}.`, this.#location, `/${key}`);
  }
}

/** An id may be any integer that an item may have, however it is written. */
function isInteger(value: JsonValue): boolean {
  return value instanceof ExactNumber ? !value.text.includes('.') : Number.isInteger(value);
}

function invalid(message: string, location: SourceLocation, path?: string): PackageError {
  return new PackageError(
    'package_invalid_line',
    message,
    errorLocation({ ...location, ...(path && { path }) }),
  );
}

function errorLocation(location: SourceLocation): { entry?: string; location: SourceLocation } {
  return { location, ...(location.file !== undefined && { entry: location.file }) };
}
