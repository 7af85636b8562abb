import { canonicalJson, type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { boundWarnings, checkColumnCount, shorten } from '../errors.ts';
import { csvNumber, isInt64, isUint64, MAX_NUMBER_LENGTH } from '../scalars/numbers.ts';
import { asIs } from '../schema/cast.ts';
import { type Features, valueFeature } from '../schema/features.ts';
import type { Inference, Schema } from '../schema/infer-schema.ts';
import { NULL_SIZE, type ReadRow, type TextReader } from '../text/batch-rows.ts';
import type { CachedFile } from '../text/cached-file.ts';
import type { FormatOptions } from '../text/raw-row.ts';
import { VERBATIM } from './csv-scanner.ts';
import { PandasRows } from './pandas-rows.ts';
import { readPandasSettings } from './pandas-settings.ts';
import { isTruth, numberKind, plainNumberKind } from './plain-number.ts';

/** `uint` are integers beyond int64 that fit 64 bits without a sign, `long` larger ones. */
type CsvShape = Record<'null' | 'int' | 'uint' | 'negative' | 'long' | 'float' | 'bool' | 'text', boolean> & {
  /** The first number that is not written as its JSON text; null if there is none. */
  respelled: string | null;
  /** How many infinities it has had, which become null. */
  infinities: number;
};

/**
 * Infers the columns of CSV rows as pandas does, over all rows alike: int64 (uint64 beyond it), float64 with fractions
 * or gaps, bool, else string. An empty column is float64. Dates stay texts, leading zeros are lost; warnings name the
 * columns whose numbers lose their spelling.
 */
export class PandasInference implements Inference<PandasRows> {
  readonly isCsv = true;
  readonly #columns = new Map<string, CsvShape>();
  readonly #headers: string[] = [];
  #last: PandasRows['columns'] | null = null;
  #shapes: readonly CsvShape[] = [];

  add(row: PandasRows): void {
    if (row.columns !== this.#last) {
      this.#last = row.columns;
      this.#shapes = [...row.columns.keys()].map((name) => this.#shapeOf(name));
    }
    for (let column = 0; column < this.#shapes.length; column += 1) {
      noteField(this.#shapes[column] as CsvShape, row, column);
    }
  }

  /** Adds the columns of a file that has no rows, which count if no file has rows. */
  addHeader(names: Iterable<string>): void {
    if (this.#columns.size === 0) this.#headers.push(...names);
  }

  valueOf(row: PandasRows, name: string): JsonValue | undefined {
    const column = row.columns.get(name);
    if (column === undefined) return undefined;
    return row.isNull(column) ? null : row.text(column);
  }

  features(): Features {
    if (this.#columns.size === 0) for (const name of this.#headers) this.#shapeOf(name);
    return [...this.#columns].map(([name, shape]) => ({ name, feature: valueFeature(csvDtype(shape)) }));
  }

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
    const warnings = boundWarnings(
      found,
      (more) => `The numbers of ${more} more columns lose their spelling.`,
    );
    if (infinities === 0) return warnings;
    return [...warnings, `Infinities are read as null: ${infinities} in the rows that were sampled.`];
  }

  #shapeOf(name: string): CsvShape {
    const known = this.#columns.get(name);
    if (known !== undefined) return known;
    const shape: CsvShape = {
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
    checkColumnCount(this.#columns.size + 1);
    this.#columns.set(name, shape);
    return shape;
  }
}

function noteField(shape: CsvShape, row: PandasRows, column: number): void {
  // Nothing changes the type of a column that has a text.
  if (shape.text) return;
  if (row.isNull(column)) {
    shape.null = true;
    return;
  }
  const { bytes, starts, ends, escaped } = row.scanner;
  const index = row.field(column);
  const start = starts[index] as number;
  const end = ends[index] as number;
  if (escaped[index] !== VERBATIM) noteText(shape, row.text(column));
  else if (isTruth(bytes, start, end)) shape.bool = true;
  else {
    // Once a number is known to be respelled, the spelling of the others does not matter.
    const kind = (shape.respelled === null ? plainNumberKind : numberKind)(bytes, start, end);
    if (kind === null) noteText(shape, row.text(column));
    else shape[kind] = true;
    if (kind !== null && bytes[start] === MINUS) shape.negative = true;
  }
}

const MINUS = 45;

/** @param text null if it is not UTF-8, which is an error of the row */
function noteText(shape: CsvShape, text: string | null): void {
  const kind = text === null ? 'text' : csvKind(text);
  shape[kind] = true;
  if (text === null || kind === 'text' || kind === 'bool') return;
  if (kind === 'int' && text.includes('-')) shape.negative = true;
  if (kind === 'float' && /inf/i.test(text)) shape.infinities += 1;
  else if (shape.respelled === null && !isCanonical(text)) shape.respelled = text;
}

function isCanonical(text: string): boolean {
  return canonicalJson(csvNumber(text) ?? null) === text;
}

function csvDtype(shape: CsvShape): string {
  if (shape.text) return 'string';
  const number = shape.int || shape.uint || shape.long || shape.float;
  if (shape.bool) return number ? 'string' : 'bool';
  if (shape.float) return 'float64';
  // If some integers of a column do not fit 64 bits, the column keeps their texts.
  if (shape.long || (shape.uint && shape.negative)) return 'string';
  if (!number || shape.null) return 'float64';
  return shape.uint ? 'uint64' : 'int64';
}

export function csvKind(text: string): 'int' | 'uint' | 'long' | 'float' | 'bool' | 'text' {
  if (/^-?[0-9]{1,15}$/.test(text)) return 'int';
  if (/^(?:true|false)$/i.test(text)) return 'bool';
  if (text.length > MAX_NUMBER_LENGTH) return 'text';
  if (/^[ \t]*[+-]?[0-9]+[ \t]*$/.test(text)) {
    const digits = text.trim().replace(/^\+/, '');
    if (isInt64(digits)) return 'int';
    const significant = digits.replace(/^-?0*/, '');
    return significant === '' || (!digits.startsWith('-') && isUint64(significant)) ? 'uint' : 'long';
  }
  return csvNumber(text) === undefined ? 'text' : 'float';
}

/** Reads CSV files as the `datasets` library does, by the parameters of a dataset card. */
export class PandasReader implements TextReader<PandasRows> {
  readonly inference: PandasInference = new PandasInference();
  readonly #options: FormatOptions;

  constructor(options: FormatOptions) {
    this.#options = options;
  }

  async *rowsOf(file: CachedFile, signal: AbortSignal | undefined): AsyncGenerator<Iterable<PandasRows>> {
    const { params = {}, textColumns, skipsInvalid } = this.#options;
    const options = { file: file.path, signal, textColumns, skipsInvalid };
    const rows = new PandasRows(readPandasSettings(params, file.path), options);
    yield* rows.read(file);
    this.inference.addHeader(rows.emptyColumns());
  }

  rowReader({ converts }: Schema, columns: readonly string[]): (row: PandasRows) => ReadRow {
    /** The columns of the file, and the positions of the ones that are read: -1 if the file lacks it. */
    let known: PandasRows['columns'] | null = null;
    let positions: readonly number[] = [];
    return (row) => {
      if (row.columns !== known) {
        known = row.columns;
        positions = columns.map((name) => row.columns.get(name) ?? -1);
      }
      let faulty = -1;
      const values: JsonObject = {};
      for (const [index, name] of columns.entries()) {
        const column = positions[index] as number;
        const isMissing = row.unread !== undefined || column === -1 || row.isNull(column);
        const text = isMissing ? null : row.text(column);
        if (!isMissing && text === null && faulty === -1) faulty = column;
        setMember(values, name, text === null ? null : (converts.get(name) ?? asIs)(text));
      }
      const size = Math.max(row.size, columns.length * NULL_SIZE);
      return { values, size, unread: faulty === -1 ? row.unread : () => row.notUtf8(faulty) };
    };
  }
}
