import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import type { TableError } from '../errors.ts';
import { type Convert, completeJson } from '../schema/cast.ts';
import { type Feature, type Features, valueFeature } from '../schema/features.ts';
import { JsonInference } from '../schema/infer-json.ts';
import type { Schema } from '../schema/infer-schema.ts';
import type { Inference } from '../schema/inference.ts';
import { type RowBatch, type RowRange, type Table, toCellRows, wholeRange } from '../table.ts';
import { type BatchWriter, batchRows } from './batch-rows.ts';
import type { CachedFile } from './cached-file.ts';
import type { RawRow } from './raw-row.ts';
import { readRows } from './read-rows.ts';
import type { ArrivedRows, FormatOptions, TextReader } from './text-reader.ts';

/** Size of a batch of rows, in characters. */
const BATCH_SIZE = 1024 * 1024;
const MAX_BATCH_ROWS = 1000;
const NULL_SIZE = 4;

/** Reads JSON and text files as rows. */
export class RowReader implements TextReader<RawRow> {
  readonly inference: Inference<RawRow>;
  readonly #format: 'json' | 'text';
  readonly #options: FormatOptions;

  constructor(format: 'json' | 'text', options: FormatOptions) {
    this.inference = format === 'json' ? new JsonInference() : TEXT;
    this.#format = format;
    this.#options = options;
  }

  async *rowsOf(file: CachedFile, signal: AbortSignal | undefined): AsyncGenerator<ArrivedRows<RawRow>> {
    const { params, skipsInvalid } = this.#options;
    const options = { params, skipsInvalid, file: file.path, signal };
    for await (const row of readRows(file.read(signal), this.#format, options)) yield new OneRow(row);
  }

  readersOf(
    schema: Schema,
    rows: (signal: AbortSignal | undefined) => AsyncIterable<ArrivedRows<RawRow>>,
  ): Pick<Table, 'read' | 'readCells'> {
    const skipsInvalid = this.#options.skipsInvalid ?? false;
    const read = (range: RowRange = {}): AsyncGenerator<RowBatch> => {
      const { from, to, columns, signal } = wholeRange(schema.features, range);
      return batchRows(rows(signal), new RowWriter(schema, columns), { from, to, skipsInvalid });
    };
    return {
      read,
      readCells: (range) => toCellRows(read(range), wholeRange(schema.features, range).columns),
    };
  }
}

class OneRow implements ArrivedRows<RawRow> {
  #row: RawRow | null;

  constructor(row: RawRow) {
    this.#row = row;
  }

  next(): RawRow | null {
    const row = this.#row;
    this.#row = null;
    return row;
  }
}

const TEXT: Inference<RawRow> = {
  isCsv: false,
  add: () => {},
  valueOf: ({ row }, name): JsonValue | undefined => (Object.hasOwn(row, name) ? row[name] : undefined),
  features: (): Features => [{ name: 'text', feature: valueFeature('string') }],
  warnings: () => [],
  convert: (feature: Feature): Convert => completeJson(feature),
};

/** Collects rows as objects that have some columns. */
class RowWriter implements BatchWriter<RawRow, RowBatch> {
  readonly #schema: Schema;
  readonly #columns: readonly string[];
  #rows: JsonObject[] = [];
  #size = 0;

  constructor(schema: Schema, columns: readonly string[]) {
    this.#schema = schema;
    this.#columns = columns;
  }

  add({ row, size, unread }: RawRow): (() => TableError) | undefined {
    const typed = this.#schema.toRow(row);
    const projected: JsonObject = {};
    for (const name of this.#columns) {
      setMember(projected, name, Object.hasOwn(typed, name) ? (typed[name] ?? null) : null);
    }
    this.#rows.push(projected);
    // Columns that the file does not have are null in the row.
    this.#size += Math.max(size, this.#columns.length * NULL_SIZE);
    return unread;
  }

  isFull(rowCount: number): boolean {
    return this.#size >= BATCH_SIZE || rowCount >= MAX_BATCH_ROWS;
  }

  end(firstRow: number, rowCount: number, invalid: RowBatch['invalid']): RowBatch {
    const rows = this.#rows.slice(0, rowCount);
    this.#rows = [];
    this.#size = 0;
    return { firstRow, rows, invalid };
  }
}
