import { checkNumber } from '@svc/jsonl-v23/options';
import { shorten } from '@svc/tabular';
import { HubError, listNames } from '../errors.ts';

/** How a percentage becomes a row number: nearest row (halves to the even one), or whole percents of equal size. */
type SplitRounding = 'closest' | 'pct1_dropremainder';

/** One member of a sum. Bounds may be negative (counted from the end); null means an open side. */
interface SplitPart {
  readonly split: string;
  readonly unit: 'rows' | 'percent';
  readonly from: bigint | null;
  readonly to: bigint | null;
  /** Only percentages are rounded. */
  readonly rounding: SplitRounding | null;
}

/** A parsed split expression. `all` means every split of the subset, in order; then `parts` is empty. */
export interface SplitExpression {
  readonly text: string;
  readonly all: boolean;
  readonly parts: readonly SplitPart[];
}

/** A split of the dataset; `numRows` is absent if the rows have not been counted. */
export interface SplitSize {
  readonly name: string;
  readonly numRows?: number | bigint | undefined;
}

/** Rows `from` (inclusive) to `to` (exclusive) of one split, counted from 0; `to` null means to its end. */
export interface SplitRange {
  readonly split: string;
  readonly from: number;
  readonly to: number | null;
}

// Word characters as the hub's loader sees them: letters, numbers and the underscore of every script.
const WORD = '[\\p{L}\\p{N}_]';
const NAME = `${WORD}+(?:\\.${WORD}+)*`;
const SPLIT_NAME = new RegExp(`^${NAME}$`, 'u');
const PART = new RegExp(
  `^(${NAME})(?:\\[(?:(-?[0-9_]+)(%)?)?:(?:(-?[0-9_]+)(%)?)?\\])?(?:\\(([^)]*)\\))?$`,
  'u',
);
// A sum of hundreds of splits fits; a megabyte of them has no use.
const MAX_EXPRESSION_LENGTH = 16_384;
// Underscores are allowed between digits, as in 1_000.
const INTEGER = /^-?[0-9]+(?:_[0-9]+)*$/;

/** Whether a text may name a split: words joined by single dots, no dash and no blank. */
export function isSplitName(name: string): boolean {
  return SPLIT_NAME.test(name);
}

/**
 * Parses a split expression such as `train`, `train[:100]`, `train[-5:]`, `train[10%:20%]`, `train+test[:5]`,
 * `train[:10%](pct1_dropremainder)` or `all`. The grammar and its refusals are the hub's own loader's: no blanks, no
 * step, no single index, no decimals, one rounding in a sum. One `%` makes both bounds percentages.
 *
 * @throws HubError `invalid_split`
 */
export function parseSplit(expression: string): SplitExpression {
  const text = expression.endsWith('\n') ? expression.slice(0, -1) : expression;
  if (text.length > MAX_EXPRESSION_LENGTH) {
    throw invalidSplit(text, `it is longer than ${MAX_EXPRESSION_LENGTH} characters`);
  }
  if (text === 'all') return { text, all: true, parts: [] };
  const parts = text.split('+').map((part) => parsePart(part, text));
  // The loader compares each member with the first one only, and never one that is not rounded.
  const rounding = parts[0]?.rounding ?? null;
  if (rounding !== null && parts.some((part) => part.rounding !== null && part.rounding !== rounding)) {
    throw invalidSplit(text, 'its parts are rounded in different ways');
  }
  return { text, all: false, parts };
}

/** Whether the rows of the named splits must be counted before the expression means anything. */
export function needsRowCounts(expression: SplitExpression): boolean {
  return expression.parts.some(
    (part) => part.unit === 'percent' || (part.from ?? 0n) < 0n || (part.to ?? 0n) < 0n,
  );
}

/**
 * Resolves an expression to row ranges, in written order; overlaps and repeats stay. Percentages are rounded half to
 * even in whole numbers. Bounds beyond the end are cut if the count is known; a range of a split without a count is a
 * prefix or a suffix to be read until the file ends.
 *
 * @throws HubError `hub_split_not_found` for a name the dataset lacks (with what there is), `invalid_split` if the
 *   expression selects no row of splits that have rows, has a member that ends before it begins, or needs a count that
 *   is not given; TypeError, RangeError for an invalid `numRows`.
 */
export function resolveSplit(expression: SplitExpression, splits: readonly SplitSize[]): SplitRange[] {
  for (const { name, numRows } of splits) {
    const rows = typeof numRows === 'bigint' ? Number(numRows) : numRows;
    checkNumber(`numRows of split ${JSON.stringify(name)}`, rows, { min: 0 });
  }
  if (expression.all) {
    return splits.map(({ name, numRows }) => ({
      split: name,
      from: 0,
      to: numRows === undefined ? null : Number(numRows),
    }));
  }
  const sizes = new Map(splits.map(({ name, numRows }) => [name, numRows]));
  for (const part of expression.parts) {
    if (!sizes.has(part.split)) throw splitNotFound(part.split, [...sizes.keys()]);
  }
  const ranges = expression.parts.map((part) => resolvePart(part, sizes.get(part.split), expression.text));
  const ofRows = ranges.filter(({ split }) => Number(sizes.get(split) ?? 1) > 0);
  // A member of a sum may be empty, by rounding for example; a member that ends before it begins is a mistake.
  const isReversed = ofRows.some(({ from, to }) => to !== null && to < from);
  const selectsNothing = ofRows.length > 0 && ranges.every(({ from, to }) => to !== null && to <= from);
  if (isReversed || selectsNothing) throw emptySelection(expression);
  return ranges;
}

/** The error for an expression that turned out to select no row of a split that has rows. */
export function emptySelection(expression: SplitExpression): HubError {
  const { length } = expression.parts;
  return invalidSplit(
    expression.text,
    length > 1 ? 'it has a member that selects no rows' : 'it selects no rows',
  );
}

/** Splits that are read if none is named, the first that exists. */
const DEFAULT_SPLITS = ['train', 'test', 'validation'] as const;

/** The split that is read if none is named: the only one, else `train`, `test` or `validation`. */
export function defaultSplit(names: readonly string[]): string {
  const [first] = names;
  if (names.length === 1 && first !== undefined) return first;
  const usual = DEFAULT_SPLITS.find((name) => names.includes(name));
  if (usual !== undefined) return usual;
  throw new HubError('hub_split_not_found', `Name a split: the dataset has ${listNames(names)}`, {
    details: { available: names },
  });
}

function parsePart(part: string, text: string): SplitPart {
  const match = PART.exec(part);
  if (match === null) {
    throw invalidSplit(text, 'expected name, name[from:to] or a sum of these, without blanks');
  }
  const [, split = '', from, fromPercent, to, toPercent, rounding] = match;
  const percent = fromPercent !== undefined || toPercent !== undefined;
  if (!percent && rounding !== undefined) {
    throw invalidSplit(text, 'only percentages can be rounded');
  }
  if (rounding !== undefined && rounding !== 'closest' && rounding !== 'pct1_dropremainder') {
    throw invalidSplit(text, `rounding must be closest or pct1_dropremainder, not ${shorten(rounding)}`);
  }
  const bounds = [from, to].map((bound) => {
    if (bound === undefined) return null;
    if (!INTEGER.test(bound)) throw invalidSplit(text, `${shorten(bound)} is not a whole number`);
    const value = BigInt(bound.replaceAll('_', ''));
    if (percent && (value > 100n || value < -100n)) {
      throw invalidSplit(text, 'percentages go from -100 to 100');
    }
    return value;
  });
  return {
    split,
    unit: percent ? 'percent' : 'rows',
    from: bounds[0] ?? null,
    to: bounds[1] ?? null,
    rounding: percent ? (rounding ?? 'closest') : null,
  };
}

function resolvePart(part: SplitPart, numRows: number | bigint | undefined, text: string): SplitRange {
  if (numRows === undefined) {
    if (part.unit === 'percent' || (part.from ?? 0n) < 0n || (part.to ?? 0n) < 0n) {
      throw invalidSplit(text, `the rows of split ${part.split} are not counted`);
    }
    return {
      split: part.split,
      from: toNumber(part.from ?? 0n),
      to: part.to === null ? null : toNumber(part.to),
    };
  }
  const count = BigInt(numRows);
  const row = (bound: bigint | null, open: bigint): bigint => {
    if (bound === null) return open;
    const absolute = part.unit === 'percent' ? percentOf(bound, count, part, text) : bound;
    const fromStart = absolute < 0n ? count + absolute : absolute;
    return fromStart < 0n ? 0n : fromStart > count ? count : fromStart;
  };
  return { split: part.split, from: Number(row(part.from, 0n)), to: Number(row(part.to, count)) };
}

function percentOf(percent: bigint, count: bigint, part: SplitPart, text: string): bigint {
  if (part.rounding === 'pct1_dropremainder') {
    if (count < 100n) {
      throw invalidSplit(text, `split ${part.split} has ${count} rows, and pct1_dropremainder needs 100`);
    }
    return percent * (count / 100n);
  }
  const hundredths = percent * count;
  const magnitude = hundredths < 0n ? -hundredths : hundredths;
  const whole = magnitude / 100n;
  const rest = magnitude % 100n;
  const rounded = rest > 50n || (rest === 50n && whole % 2n === 1n) ? whole + 1n : whole;
  return hundredths < 0n ? -rounded : rounded;
}

// No split has more rows than a double counts exactly, so a larger bound means "all of them".
function toNumber(bound: bigint): number {
  return bound > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(bound);
}

function splitNotFound(name: string, available: readonly string[]): HubError {
  return new HubError(
    'hub_split_not_found',
    `Split ${shorten(name)} not found: the dataset has ${listNames(available)}`,
    {
      details: { available },
    },
  );
}

function invalidSplit(text: string, reason: string): HubError {
  return new HubError('invalid_split', `Split expression ${shorten(text)} cannot be read: ${reason}`);
}
