import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { checkFlags, checkTextColumns, oneOf } from '../check-arguments.ts';
import { PandasReader } from '../csv/pandas-reader.ts';
import { checkColumnCount, TableError } from '../errors.ts';
import { asIs, type Convert, completeJson } from '../schema/cast.ts';
import { type Feature, type Features, valueFeature } from '../schema/features.ts';
import { JsonInference } from '../schema/infer-json.ts';
import {
  INFERENCE_WINDOW_ROWS,
  INFERENCE_WINDOW_SIZE,
  type Inference,
  inferSchema,
  type Schema,
  type SchemaBuilder,
  type TextFormat,
} from '../schema/infer-schema.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { type Table, wholeRange } from '../table.ts';
import {
  type ArrivedRows,
  batchRows,
  type FormatOptions,
  type FoundRow,
  NULL_SIZE,
  type ReadRow,
  type TextReader,
} from './batch-rows.ts';
import { type CacheBudget, CachedFile, compressionOfFile } from './cached-file.ts';
import type { RawRow } from './raw-row.ts';
import { readRows } from './read-rows.ts';

/** Files of this size together are read whole at first: their types and counts are then exact. */
const SMALL_BYTES = 16 * 1024 * 1024;
/** Expected ratio of a compressed file. */
const EXPECTED_RATIO = 4;
/** Further files whose first rows are sampled for their columns. */
const MAX_SAMPLED_FILES = 4;
const SAMPLE_SIZE = 64 * 1024;

/** How text files are opened. */
export interface TextTablesOptions extends FormatOptions {
  readonly format: TextFormat;
  /** Types that are declared for the columns. */
  readonly declared?: Features | undefined;
  /** Names of the tables whose rows must be counted; default none. */
  readonly count?: ReadonlySet<string>;
  readonly signal?: AbortSignal | undefined;
}

/** What has been read of the tables. */
interface Scan {
  /** Rows of the tables that have been read whole. */
  readonly counts: Map<string, number>;
  /** Rows that have been read. */
  readonly seen: Map<string, number>;
  unreadRow: TableError | undefined;
}

/**
 * Opens text files (JSON, CSV, lines) as tables with the same columns. The columns are inferred: from all rows if the files
 * are small or the rows must be counted, else from the first rows. What was read for that is cached and not read again.
 *
 * @param files files of each table, by its name; their rows follow each other
 * @throws TableError `invalid_row` in a table whose rows must be counted, `damaged_file`, `unsupported_file`; errors of the
 *   sources; the signal's reason; TypeError for an option that does not exist or cannot be
 */
export async function openTextTables(
  files: ReadonlyMap<string, readonly ByteSource[]>,
  options: TextTablesOptions,
): Promise<Map<string, Table>> {
  oneOf('format', options.format, ['json', 'csv', 'text']);
  checkTextColumns(options.textColumns);
  checkFlags({ skipsInvalid: options.skipsInvalid });
  return options.format === 'csv'
    ? await openTables(files, new PandasReader(options), options)
    : await openTables(files, new RowReader(options.format, options), options);
}

async function openTables<Row extends FoundRow>(
  files: ReadonlyMap<string, readonly ByteSource[]>,
  reader: TextReader<Row>,
  { count = new Set(), skipsInvalid = false, signal, ...options }: TextTablesOptions,
): Promise<Map<string, Table>> {
  const budget: CacheBudget = { bytes: SMALL_BYTES };
  // Made when a file is read: a table may have 100,000 files, and few are read.
  const opened = new Map<ByteSource, CachedFile>();
  const open = (file: ByteSource): CachedFile => {
    const cached = opened.get(file) ?? new CachedFile(file, budget);
    opened.set(file, cached);
    return cached;
  };
  const builder = inferSchema(reader.inference, options);
  const { counts, seen, unreadRow } = await scan(files, builder, count, (file) =>
    reader.rowsOf(open(file), signal),
  );
  const schema = builder.finish();
  const { features, warnings } = schema;
  checkColumnCount(features.length);
  return new Map(
    [...files].map(([name, sources]): [string, Table] => {
      const rows = async function* (reading: AbortSignal | undefined): AsyncGenerator<ArrivedRows<Row>> {
        for (const file of sources) yield* reader.rowsOf(open(file), reading);
      };
      const table: Table = {
        features,
        warnings,
        unreadRow,
        rowCount: counts.get(name),
        atLeastRows: seen.get(name) ?? 0,
        read(range) {
          const { from, to, columns, signal } = wholeRange(features, range);
          return batchRows(rows(signal), reader.rowReader(schema, columns), { from, to, skipsInvalid });
        },
      };
      return [name, table];
    }),
  );
}

/** Reads the rows from which the columns are inferred. */
async function scan<Row extends FoundRow>(
  tables: ReadonlyMap<string, readonly ByteSource[]>,
  builder: SchemaBuilder<Row>,
  counted: ReadonlySet<string>,
  rowsOf: (file: ByteSource) => AsyncGenerator<ArrivedRows<Row>>,
): Promise<Scan> {
  const result: Scan = { counts: new Map(), seen: new Map(), unreadRow: undefined };
  let window = INFERENCE_WINDOW_SIZE;
  for (const [name, files] of tables) {
    const size = files.reduce((sum, file) => sum + expectedSize(file), 0);
    if (size <= SMALL_BYTES || counted.has(name)) {
      const { count, error, unreadRow } = await scanAll(files, builder, rowsOf);
      // Without a request to count, the rows before an invalid one can still be read.
      if (error !== undefined && counted.has(name)) throw error;
      result.unreadRow ??= unreadRow ?? error;
      result.seen.set(name, count);
      if (error === undefined) result.counts.set(name, count);
      continue;
    }
    const [first, ...others] = files;
    if (first === undefined) continue;
    const sampled = await scanHead(first, builder, rowsOf, Math.max(window, SAMPLE_SIZE));
    window -= sampled.size;
    result.seen.set(name, sampled.count);
    const step = Math.max(1, Math.ceil(others.length / MAX_SAMPLED_FILES));
    for (const [index, other] of others.entries()) {
      if (index % step === 0) await scanHead(other, builder, rowsOf, SAMPLE_SIZE);
    }
  }
  return result;
}

/** Reads all rows, up to the first invalid one. */
async function scanAll<Row extends FoundRow>(
  files: readonly ByteSource[],
  builder: SchemaBuilder<Row>,
  rowsOf: (file: ByteSource) => AsyncGenerator<ArrivedRows<Row>>,
): Promise<{ count: number; error?: TableError; unreadRow: TableError | undefined }> {
  let count = 0;
  let unreadRow: TableError | undefined;
  try {
    for (const file of files) {
      for await (const rows of rowsOf(file)) {
        for (let row = rows.next(); row !== null; row = rows.next()) {
          if (row.unread === undefined) builder.add(row);
          else unreadRow ??= row.unread();
          count += 1;
        }
      }
    }
  } catch (error) {
    if (!(error instanceof TableError && error.code === 'invalid_row')) throw error;
    return { count, error, unreadRow };
  }
  return { count, unreadRow };
}

/** Reads the first rows of a file. */
async function scanHead<Row extends FoundRow>(
  file: ByteSource,
  builder: SchemaBuilder<Row>,
  rowsOf: (file: ByteSource) => AsyncGenerator<ArrivedRows<Row>>,
  maxSize: number,
): Promise<{ count: number; size: number }> {
  let count = 0;
  let size = 0;
  for await (const rows of rowsOf(file)) {
    for (let row = rows.next(); row !== null; row = rows.next()) {
      if (row.unread === undefined) builder.add(row);
      count += 1;
      size += row.size;
      if (size >= maxSize || count >= INFERENCE_WINDOW_ROWS) return { count, size };
    }
  }
  return { count, size };
}

function expectedSize(file: ByteSource): number {
  return compressionOfFile(file) === 'none' ? file.byteLength : file.byteLength * EXPECTED_RATIO;
}

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

  rowReader({ converts }: Schema, columns: readonly string[]): (row: RawRow) => ReadRow {
    return ({ row, size, unread }) => {
      const values: JsonObject = {};
      for (const name of columns) {
        const value = Object.hasOwn(row, name) ? (row[name] ?? null) : null;
        setMember(values, name, value === null ? null : (converts.get(name) ?? asIs)(value));
      }
      return { values, size: Math.max(size, columns.length * NULL_SIZE), unread };
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
