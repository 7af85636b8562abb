import { isDatasetName, type SourceLocation } from '@svc/jsonl-v23';
import {
  canonicalByteLength,
  ExactNumber,
  getMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@svc/jsonl-v23/json';
import { type LineBatch, parseLines } from '@svc/jsonl-v23/lines';
import {
  type Field,
  type FieldKind,
  PUBLIC_RESULT_FIELDS,
  type ResultField,
  type ResultLabel,
  type ResultValues,
  readLabels,
  type StatedName,
  timeOf,
} from '@svc/jsonl-v23/runs';
import { PackageError, type PackageErrorOptions, quote } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { RESULTS_FILE } from './layout.ts';

/** The result of one repetition of one item. */
export interface PackageResult extends ResultValues {
  /** What people say of the output. */
  readonly labels: readonly ResultLabel[];
}

/** What results refer to: the sections in order. */
export type CountedSections = readonly { readonly name: string; readonly itemCount: number }[];

type StatedResult = Omit<PackageResult, 'sectionOrderIndex'>;

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
  const result = readFields(line, location);
  // Some numbers are longer in canonical form.
  if (canonicalByteLength(line) > maxLineBytes) {
    const message = `The result is longer than ${maxLineBytes} bytes.`;
    throw new PackageError('package_limit', message, errorLocation(location));
  }
  return result;
}

/** Makes a reader of parsed lines of `results.jsonl`, which places their results. It takes what its parts take. */
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

/** Makes a finder of the sections of results. The results must be in item order, so that none occurs twice. */
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
    const step = position.map((number, index) => number - (previous[index] ?? 0)).find((by) => by !== 0) ?? 0;
    if (step <= 0) {
      const problem = step === 0 ? 'occurs twice' : 'is not in item order';
      throw invalid(`The result of item ${orderIndex} of section ${quote(section)} ${problem}.`, location);
    }
    previous = position;
    return found.orderIndex;
  };
}

const STATED = PUBLIC_RESULT_FIELDS.filter(({ isDerived = false }) => !isDerived) as readonly (ResultField & {
  readonly name: StatedName;
})[];

/** Reads the members of a line, and checks their types. @throws PackageError `package_invalid_line` */
function readFields(line: JsonObject, location: SourceLocation): StatedResult {
  const result: { [Name in StatedName]?: unknown } = {};
  for (const field of STATED) {
    const { name, wire, kind, isRequired = false } = field;
    const stated = getMember(line, wire) ?? field.default ?? null;
    const { read, wanted } = MEMBER_READERS[kind];
    const isNull = stated === null && !isRequired;
    const onlyNull = isNull ? undefined : mustBeNull(name, result);
    const value = isNull ? null : onlyNull === undefined ? read(stated, field) : undefined;
    if (value === undefined) {
      throw invalid(`${wire} must be ${onlyNull ?? wanted(field)}.`, location, `/${wire}`);
    }
    result[name] = value;
  }
  const labels = readLabels(getMember(line, 'labels'));
  if (labels === undefined) {
    throw invalid('labels must be an array of at most 100 labels, one for each person.', location, '/labels');
  }
  return { ...(result as Omit<StatedResult, 'labels'>), labels };
}

/** What a field must be if the earlier fields allow null alone; undefined for others. */
function mustBeNull(
  name: StatedName,
  { status, score }: { readonly [Name in StatedName]?: unknown },
): string | undefined {
  if (name === 'score' && status !== 'ok') return 'null, unless the status is "ok"';
  return name === 'passed' && score === null ? 'null without a score' : undefined;
}

function invalid(message: string, location: SourceLocation, path?: string): PackageError {
  return new PackageError(
    'package_invalid_line',
    message,
    errorLocation({ ...location, ...(path && { path }) }),
  );
}

const errorLocation = (location: SourceLocation): PackageErrorOptions => ({ location, entry: location.file });

/** How often a run executes each item at most. */
export const MAX_REPETITIONS = 100;

/** Why a run or one of its results failed. */
export interface RunError {
  readonly code: string;
  readonly message: string;
  /** What the provider says about it. */
  readonly provider_message?: string;
}

/** Code points of a provider's message. */
const MAX_PROVIDER_MESSAGE = 500;

/** Characters that are certain to be stored and read again. */
const MAX_ERROR_LENGTH = 10_000;

/** The error of a run or a result: null for none, undefined for an invalid value. */
function readRunError(value: JsonValue | undefined): RunError | null | undefined {
  if (value === null || value === undefined) return null;
  if (!isJsonObject(value)) return undefined;
  const code = getMember(value, 'code');
  const message = getMember(value, 'message');
  const words = getMember(value, 'provider_message');
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  if (code.length + message.length > MAX_ERROR_LENGTH) return undefined;
  if (typeof words !== 'string') return { code, message };
  // Earlier versions do not know it. Like them, this leaves out what is too long.
  return words.length > 2 * MAX_PROVIDER_MESSAGE
    ? { code, message }
    : { code, message, provider_message: words };
}

const MAX_SCORERS = 16;
/** A filter of lm-evaluation-harness follows a comma. */
const SCORER_NAME = /^[\w.,-]{1,64}$/;
const SCORED_BY: readonly JsonValue[] = ['checker', 'judge', 'client', 'label', null];

function areScores(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_SCORERS && entries.every(([name, one]) => SCORER_NAME.test(name) && isScore(one))
  );
}

function isScore(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { score = null, passed = null, explanation = null, scored_by = null, error } = value;
  return (
    (score === null || (typeof score === 'number' && score >= 0 && score <= 1)) &&
    (passed === null || (typeof passed === 'boolean' && score !== null)) &&
    (explanation === null || typeof explanation === 'string') &&
    SCORED_BY.includes(scored_by) &&
    readRunError(error) !== undefined
  );
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;
const VERSION_HASH = /^[0-9a-f]{64}$/;

interface MemberReader {
  /** The value of the field; undefined for an invalid member. */
  readonly read: (member: JsonValue, field: Field) => unknown;
  readonly wanted: (field: Field) => string;
}

export const MEMBER_READERS: Readonly<Record<FieldKind, MemberReader>> = {
  text: readerOf((member) => typeof member === 'string', 'a string'),
  title: readerOf(isDatasetName, '1 to 255 characters without control characters, or null'),
  name: readerOf(
    (member) => typeof member === 'string' && /^[\w.-]{1,64}$/.test(member),
    'a name of at most 64 characters, or null',
  ),
  word: {
    read: (member, { values = [] }) => values.find((word) => word === member),
    wanted: ({ values = [] }) => {
      const words = values.map((word) => `"${word}"`);
      return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
    },
  },
  integer: {
    read: (member, field) => (Number.isSafeInteger(member) && isInRange(member, field) ? member : undefined),
    wanted: (field) => `an integer ${rangeOf(field)}`,
  },
  count: readerOf((member) => Number.isSafeInteger(member) && Number(member) >= 0, 'a number of tokens'),
  number: {
    read: (member, field) => (isInRange(member, field) ? member : undefined),
    wanted: (field) => `a number ${rangeOf(field)}`,
  },
  boolean: readerOf((member) => typeof member === 'boolean', 'true, false or null'),
  hash: known(VERSION_HASH),
  digest: known(VERSION_HASH),
  uuid: known(UUID),
  time: { read: timeOf, wanted: () => 'a time in ISO 8601 with "Z", or null' },
  id: readerOf((member) => typeof member === 'string' || isInteger(member), 'a string, an integer or null'),
  string: readerOf((member) => typeof member === 'string', 'a string or null'),
  long_string: readerOf((member) => typeof member === 'string', 'a string or null'),
  json: readerOf(() => true, 'a value'),
  object: readerOf(isJsonObject, 'an object or null'),
  names: readerOf(
    (member) => Array.isArray(member) && member.every((name) => typeof name === 'string'),
    'an array of names, or null',
  ),
  scores: readerOf(areScores, 'an object with the scores of at most 16 scorers, or null'),
  failure: { read: readRunError, wanted: () => 'an object with code and message, or null' },
};

/** A text of another form is unknown, and therefore null. */
function known(pattern: RegExp): MemberReader {
  return {
    read: (member) => (typeof member === 'string' && pattern.test(member) ? member : null),
    wanted: () => 'a text',
  };
}

function readerOf(isValid: (member: JsonValue) => boolean, wanted: string): MemberReader {
  return { read: (member) => (isValid(member) ? member : undefined), wanted: () => wanted };
}

const isInRange = (member: JsonValue, { minimum = -Infinity, maximum = Infinity }: Field): boolean =>
  typeof member === 'number' && member >= minimum && member <= maximum;

function rangeOf({ minimum, maximum, isRequired = false }: Field): string {
  const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return isRequired ? range : `${range}, or null`;
}

/** An id may be any integer that an item may have, however it is written. */
function isInteger(value: JsonValue): boolean {
  return value instanceof ExactNumber ? !value.text.includes('.') : Number.isInteger(value);
}
