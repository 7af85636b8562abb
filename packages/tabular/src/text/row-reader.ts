import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { type Convert, completeJson } from '../schema/cast.ts';
import { type Feature, type Features, valueFeature } from '../schema/features.ts';
import { JsonInference } from '../schema/infer-json.ts';
import type { Schema } from '../schema/infer-schema.ts';
import type { Inference } from '../schema/inference.ts';
import { type Table, wholeRange } from '../table.ts';
import { batchRows, NULL_SIZE, type ReadRow } from './batch-rows.ts';
import type { CachedFile } from './cached-file.ts';
import type { RawRow } from './raw-row.ts';
import { readRows } from './read-rows.ts';
import type { ArrivedRows, FormatOptions, TextReader } from './text-reader.ts';

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
  ): Pick<Table, 'read'> {
    const skipsInvalid = this.#options.skipsInvalid ?? false;
    return {
      read(range) {
        const { from, to, columns, signal } = wholeRange(schema.features, range);
        return batchRows(rows(signal), projected(schema, columns), { from, to, skipsInvalid });
      },
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

/** Makes the reader of a row that gives it the columns of the table, and no others. */
function projected(schema: Schema, columns: readonly string[]): (row: RawRow) => ReadRow {
  return ({ row, size, unread }) => {
    const typed = schema.toRow(row);
    const values: JsonObject = {};
    for (const name of columns) {
      setMember(values, name, Object.hasOwn(typed, name) ? (typed[name] ?? null) : null);
    }
    return { values, size: Math.max(size, columns.length * NULL_SIZE), unread };
  };
}
