import { asciiText } from '@svc/jsonl-v23/bytes';
import { canonicalNumber, JsonlError } from '@svc/jsonl-v23/json';
import { NULL_WORDS } from '@svc/jsonl-v23/mapping';
import { shorten } from '../errors.ts';
import { isInt64, isUint64 } from '../scalars/numbers.ts';
import { plainNumberKind } from './plain-number.ts';

const MINUS = 45;
const ZERO = 48;
const NINE = 57;
/** Longer texts have more digits than a number may have. */
const MAX_NUMBER_BYTES = 1100;
const MAX_WORD_BYTES = Math.max(...[...NULL_WORDS].map((word) => word.length), 'false'.length);

export type CsvValueKind = 'null' | 'int' | 'uint' | 'float' | 'bool' | 'text';

/** What a field is: a number or a truth value only if it is written as its JSON text, so that nothing is lost. */
export function csvValueKind(bytes: Uint8Array, start: number, end: number): CsvValueKind {
  const length = end - start;
  if (length === 0) return 'null';
  const first = bytes[start] as number;
  const isNumberLike = first === MINUS || (first >= ZERO && first <= NINE);
  if (!isNumberLike) return length > MAX_WORD_BYTES ? 'text' : wordKind(asciiText(bytes, start, end));
  const plain = plainNumberKind(bytes, start, end);
  if (plain !== null) return plain;
  return length > MAX_NUMBER_BYTES ? 'text' : numberKind(asciiText(bytes, start, end));
}

function wordKind(word: string): CsvValueKind {
  if (NULL_WORDS.has(word)) return 'null';
  return word === 'true' || word === 'false' ? 'bool' : 'text';
}

function numberKind(text: string): CsvValueKind {
  try {
    if (canonicalNumber(text) !== text) return 'text';
  } catch (error) {
    if (error instanceof JsonlError) return 'text';
    throw error;
  }
  if (!/^-?[0-9]+$/.test(text)) return 'float';
  if (isInt64(text)) return 'int';
  // So many digits are an identifier, not a quantity.
  return isUint64(text) ? 'uint' : 'text';
}

export interface CsvColumnShape {
  kind: CsvValueKind;
  hasNegative: boolean;
  /** Whether it became text after it had been of another kind, or had nothing but missing values. */
  wasOther: boolean;
  /** Whether its values are texts however they are spelled. Only unquoted empty fields are missing values. */
  readonly isText: boolean;
  /** How all of its values are spelled, if that is not as in JSON. */
  spelling: CsvSpelling;
}

type CsvSpelling = 'none' | 'number' | 'bool' | 'other';

export function emptyShape(isText: boolean): CsvColumnShape {
  return { kind: 'null', hasNegative: false, wasOther: false, isText, spelling: isText ? 'other' : 'none' };
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const MAX_SPELLED_BYTES = 30;

export function noteSpelling(
  shape: CsvColumnShape,
  kind: CsvValueKind,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  if (kind === 'null' || shape.spelling === 'other') return;
  const spelling = spellingOf(kind, bytes, start, end);
  shape.spelling = shape.spelling === 'none' || shape.spelling === spelling ? spelling : 'other';
}

function spellingOf(kind: CsvValueKind, bytes: Uint8Array, start: number, end: number): CsvSpelling {
  if (kind === 'bool') return 'bool';
  if (kind !== 'text') return 'number';
  if (end - start > MAX_SPELLED_BYTES) return 'other';
  const text = asciiText(bytes, start, end);
  if (text === 'True' || text === 'False') return 'bool';
  return NUMBER.test(text) ? 'number' : 'other';
}

/** Adds a value to the kinds of a column; a column of several kinds is text. */
export function noteValue(shape: CsvColumnShape, kind: CsvValueKind, isNegative: boolean): void {
  if (kind === 'null' || shape.kind === 'text') return;
  shape.wasOther = true;
  if (isNegative) shape.hasNegative = true;
  if (shape.kind === 'null') shape.kind = kind;
  else if (shape.kind !== kind) {
    const areNumbers = isNumber(shape.kind) && isNumber(kind);
    if (!areNumbers) shape.kind = 'text';
    else if (shape.kind === 'float' || kind === 'float') shape.kind = 'float';
    else shape.kind = 'uint';
  }
  if (shape.kind === 'uint' && shape.hasNegative) shape.kind = 'text';
}

const isNumber = (kind: CsvValueKind): boolean => kind === 'int' || kind === 'uint' || kind === 'float';

export const DTYPES: Readonly<Record<CsvValueKind, string>> = {
  null: 'null',
  int: 'int64',
  uint: 'uint64',
  float: 'float64',
  bool: 'bool',
  text: 'string',
};

const MAX_WARNINGS = 20;

/** Columns that are texts only because their numbers or truth values are not written as JSON has them. */
export function spellingWarnings(names: readonly string[], shapes: readonly CsvColumnShape[]): string[] {
  return shapes
    .flatMap(({ kind, spelling }, index) => {
      if (kind !== 'text' || (spelling !== 'number' && spelling !== 'bool')) return [];
      const [values, examples, type] =
        spelling === 'number' ? ['numbers', '`1.0`', 'float64'] : ['truth values', '`True`', 'bool'];
      const column = shorten(names[index] as string);
      return [
        `Column ${column} has ${values} that are not written as in JSON, such as ${examples}, and stay texts. Set its type to ${type} in \`types\` to convert them.`,
      ];
    })
    .slice(0, MAX_WARNINGS);
}
