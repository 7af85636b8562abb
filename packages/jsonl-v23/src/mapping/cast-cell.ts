import { JsonlError } from '../errors.ts';
import { canonicalJson } from '../json/canonical/canonical-json.ts';
import { describeValue, ExactNumber, type JsonValue, parseNumber } from '../json/json-value.ts';
import { tryParseJson } from '../json/parse-json.ts';
import { jsonPointer } from '../source-location.ts';
import type { ColumnType } from './mapping.ts';

/** How a missing value is written in a column that is not text. */
export const NULL_WORDS: ReadonlySet<string> = new Set(['', 'NA', 'null', 'None']);

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/** Null stays null, and a word for a missing value is null in any type but `string`. */
export function castCell(column: string, type: ColumnType, cell: JsonValue, row: number): JsonValue {
  const value = cast(type, cell);
  if (value !== undefined) return value;
  const message = `Column ${column} must hold ${type} values, got ${describeValue(cell)} in dataset row ${row}`;
  throw new JsonlError('invalid_row', message, { row, path: jsonPointer([column]) });
}

function cast(type: ColumnType, cell: JsonValue): JsonValue | undefined {
  if (cell === null) return null;
  if (type === 'string') return typeof cell === 'string' ? cell : canonicalJson(cell);
  if (typeof cell === 'string' && NULL_WORDS.has(cell)) return null;
  switch (type) {
    case 'int64':
      return isInt64(toNumber(cell)) ? toNumber(cell) : undefined;
    case 'float64':
      return toNumber(cell);
    case 'bool':
      if (typeof cell === 'boolean') return cell;
      return typeof cell === 'string' && /^(?:true|false)$/i.test(cell)
        ? cell.toLowerCase() === 'true'
        : undefined;
    case 'json':
      return typeof cell === 'string' ? tryParseJson(cell) : cell;
  }
}

/** A number, also one whose text has a plus sign, leading zeros, or a point at one end. */
function toNumber(cell: JsonValue): number | ExactNumber | undefined {
  if (typeof cell === 'number' || cell instanceof ExactNumber) return cell;
  if (typeof cell !== 'string' || cell.length > MAX_NUMBER_LENGTH) return undefined;
  const match = /^[ \t]{0,64}([+-]?)([0-9]*)(?:\.([0-9]*))?([eE][+-]?[0-9]+)?[ \t]{0,64}$/.exec(cell);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', exponent = ''] = match;
  if (whole === '' && fraction === '') return undefined;
  const digits = whole.replace(/^0+(?=[0-9])/, '') || '0';
  try {
    return parseNumber(
      `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`,
    );
  } catch (error) {
    // More digits than a number may have.
    if (error instanceof JsonlError) return undefined;
    throw error;
  }
}

/** Longer texts have more digits than a number may have. */
const MAX_NUMBER_LENGTH = 2048;

function isInt64(value: number | ExactNumber | undefined): boolean {
  if (value === undefined) return false;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return true;
  const text = canonicalJson(value);
  // A canonical number with an exponent is beyond 64 bits.
  if (!/^-?[0-9]{1,19}$/.test(text)) return false;
  const integer = BigInt(text);
  return integer >= MIN_INT64 && integer <= MAX_INT64;
}
