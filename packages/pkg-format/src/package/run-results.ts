import type { SourceLocation } from '@svc/jsonl-v23';
import { canonicalByteLength, getMember, type JsonObject } from '@svc/jsonl-v23/json';
import { type LineBatch, parseLines } from '@svc/jsonl-v23/lines';
import {
  PUBLIC_RESULT_FIELDS,
  type ResultField,
  type ResultLabel,
  type ResultValues,
  readLabels,
  type StatedName,
} from '@svc/jsonl-v23/runs';
import { PackageError, type PackageErrorOptions, quote } from '../errors.ts';
import type { PackageLimits } from '../limits.ts';
import { RESULTS_FILE } from './layout.ts';
import { MAX_REPETITIONS, MEMBER_READERS } from './run-values.ts';

/** The result of one repetition of one item. */
export interface PackageResult extends ResultValues {
  /** What people say of the output. */
  readonly labels: readonly ResultLabel[];
}

/** What results refer to: the sections in order. */
export type CountedSections = readonly { readonly name: string; readonly itemCount: number }[];

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

/**
 * Makes a finder of the sections of results. The results must be in item order, so that none occurs twice.
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
