import { canonicalJson, type JsonValue, parseNumber } from '@svc/jsonl-v23/json';
import { shorten } from '../errors.ts';
import type { RawRow } from '../text/raw-row.ts';
import { type Features, valueFeature } from './features.ts';
import { isInt64, isUint64 } from './int64.ts';

/**
 * Whether a CSV column has had fields of each kind: `uint` are integers beyond int64 that fit 64 bits without a sign, `long`
 * those beyond.
 */
type CsvShape = Record<'null' | 'int' | 'uint' | 'negative' | 'long' | 'float' | 'bool' | 'text', boolean> & {
  /** The first number that is not written as its JSON text; null if there is none. */
  respelled: string | null;
  /** How many infinities it has had, which become null. */
  infinities: number;
};

/** Columns that a warning names. */
const MAX_WARNINGS = 100;

/**
 * Infers the columns of CSV rows as pandas does, over all rows alike: int64 (uint64 beyond it), float64 with fractions
 * or gaps, bool, else string. An empty column is float64. Dates stay texts, leading zeros are lost; warnings name the
 * columns whose numbers lose their spelling.
 */
export class CsvInference {
  readonly #columns = new Map<string, CsvShape>();

  add({ row }: Pick<RawRow, 'row'>): void {
    for (const [name, value] of Object.entries(row)) {
      let shape = this.#columns.get(name);
      if (shape === undefined) {
        shape = {
          null: false,
          int: false,
          uint: false,
          negative: false,
          long: false,
          float: false,
          bool: false,
          text: false,
          respelled: null,
          infinities: 0,
        };
        this.#columns.set(name, shape);
      }
      noteField(shape, value);
    }
  }

  features(): Features {
    return [...this.#columns].map(([name, shape]) => ({ name, feature: valueFeature(csvDtype(shape)) }));
  }

  /** @param declaredNames columns whose type is not inferred */
  warnings(declaredNames: ReadonlySet<string>): string[] {
    const found: string[] = [];
    let infinities = 0;
    for (const [name, shape] of this.#columns) {
      const { respelled } = shape;
      if (declaredNames.has(name) || !/int|float/.test(csvDtype(shape))) continue;
      infinities += shape.infinities;
      if (respelled === null) continue;
      const number = canonicalJson(csvNumber(respelled) ?? null);
      found.push(
        `The numbers of column ${shorten(name)} lose their spelling: ${shorten(respelled)} becomes ${number}.`,
      );
    }
    const more = found.splice(MAX_WARNINGS).length;
    if (more > 0) found.push(`The numbers of ${more} more columns lose their spelling.`);
    if (infinities > 0) {
      found.push(`Infinities are read as null: ${infinities} in the rows that were sampled.`);
    }
    return found;
  }
}

function noteField(shape: CsvShape, value: JsonValue): void {
  if (typeof value !== 'string') {
    shape.null = true;
    return;
  }
  const kind = csvKind(value);
  shape[kind] = true;
  if (kind === 'int' && value.includes('-')) shape.negative = true;
  if (kind === 'float' && /inf/i.test(value)) shape.infinities += 1;
  else if (shape.respelled === null && !shape.text && kind !== 'bool' && !isCanonical(value)) {
    shape.respelled = value;
  }
}

function isCanonical(text: string): boolean {
  // Nearly every whole number.
  return SHORT_INTEGER.test(text) || canonicalJson(csvNumber(text) ?? null) === text;
}

function csvDtype(shape: CsvShape): string {
  if (shape.text) return 'string';
  const number = shape.int || shape.uint || shape.long || shape.float;
  if (shape.bool) return number ? 'string' : 'bool';
  if (shape.float) return 'float64';
  // A column of whole numbers some of which fit no machine word keeps their texts.
  if (shape.long || (shape.uint && shape.negative)) return 'string';
  if (!number || shape.null) return 'float64';
  return shape.uint ? 'uint64' : 'int64';
}

/** What pandas would take a field for, by itself. */
export function csvKind(text: string): 'int' | 'uint' | 'long' | 'float' | 'bool' | 'text' {
  if (/^-?[0-9]{1,15}$/.test(text)) return 'int';
  if (/^(?:true|false)$/i.test(text)) return 'bool';
  if (/^[ \t]*[+-]?[0-9]+[ \t]*$/.test(text)) {
    const digits = text.trim().replace(/^\+/, '');
    if (isInt64(digits)) return 'int';
    const significant = digits.replace(/^-?0*/, '');
    return significant === '' || (!digits.startsWith('-') && isUint64(significant)) ? 'uint' : 'long';
  }
  return csvNumber(text) === undefined ? 'text' : 'float';
}

const SHORT_INTEGER = /^(?:0|-?[1-9][0-9]{0,14})$/;

/** The number in a CSV field: null for infinities, undefined if it is not a number. */
export function csvNumber(text: string): JsonValue | undefined {
  // Nearly every field.
  if (SHORT_INTEGER.test(text)) return Number(text);
  const trimmed = text.trim();
  // As pandas does, only without blanks.
  if (/^[+-]?inf(?:inity)?$/i.test(text)) return null;
  const match = /^([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?$/.exec(trimmed);
  if (match === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const integer = whole.replace(/^0+(?=[0-9])/, '') || '0';
  const literal = `${sign === '-' ? '-' : ''}${integer}${fraction === '' ? '' : `.${fraction}`}${exponent === undefined ? '' : `e${exponent}`}`;
  try {
    return parseNumber(literal);
  } catch {
    // More digits than a number may have.
    return undefined;
  }
}
