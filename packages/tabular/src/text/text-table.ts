import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { checkFlags, checkTextColumns, oneOf } from '../check-arguments.ts';
import { PandasReader } from '../csv/infer-pandas.ts';
import { checkColumnCount, TableError } from '../errors.ts';
import { asIs } from '../schema/cast.ts';
import { type Features, valueFeature } from '../schema/features.ts';
import { JsonInference } from '../schema/infer-json.ts';
import {
  INFERENCE_WINDOW_ROWS,
  INFERENCE_WINDOW_SIZE,
  type Inference,
  inferSchema,
  type Schema,
  type SchemaBuilder,
} from '../schema/infer-schema.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { type Table, wholeRange } from '../table.ts';
import { batchRows, type FoundRow, NULL_SIZE, type ReadRow, type TextReader } from './batch-rows.ts';
import { type CacheBudget, CachedFile, compressionOfFile } from './cached-file.ts';
import type { FormatOptions, RawRow } from './raw-row.ts';
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
  /** `json` is JSON Lines, arrays and single objects. */
  readonly format: 'json' | 'csv' | 'text';
  /** Types that are declared for the columns. */
  readonly declared?: Features | undefined;
  /** Names of the tables whose rows must be counted; default none. */
  readonly count?: ReadonlySet<string>;
  readonly signal?: AbortSignal | undefined;
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
  const { found, unreadRow } = await scan(files, builder, count, (file) => reader.rowsOf(open(file), signal));
  const schema = builder.finish();
  const { features, warnings } = schema;
  checkColumnCount(features.length);
  return new Map(
    [...files].map(([name, sources]): [string, Table] => {
      const rows = async function* (reading: AbortSignal | undefined): AsyncGenerator<Iterable<Row>> {
        for (const file of sources) yield* reader.rowsOf(open(file), reading);
      };
      const table: Table = {
        features,
        warnings,
        unreadRow,
        rowCount: found.get(name)?.isWhole === true ? found.get(name)?.count : undefined,
        atLeastRows: found.get(name)?.count ?? 0,
        read(range) {
          const { from, to, columns, signal } = wholeRange(features, range);
          return batchRows(rows(signal), reader.rowReader(schema, columns), { from, to, skipsInvalid });
        },
      };
      return [name, table];
    }),
  );
}

async function scan<Row extends FoundRow>(
  tables: ReadonlyMap<string, readonly ByteSource[]>,
  builder: SchemaBuilder<Row>,
  counted: ReadonlySet<string>,
  rowsOf: (file: ByteSource) => AsyncGenerator<Iterable<Row>>,
): Promise<{ found: ReadonlyMap<string, ReadSoFar>; unreadRow: TableError | undefined }> {
  const all = new Map<string, ReadSoFar>();
  let unreadRow: TableError | undefined;
  const read = async (file: ByteSource, found: ReadSoFar, { maxSize, maxRows } = WHOLE): Promise<void> => {
    for await (const rows of rowsOf(file)) {
      for (const row of rows) {
        if (row.unread === undefined) builder.add(row);
        else found.unreadRow ??= row.unread();
        found.count += 1;
        found.size += row.size;
        if (found.size >= maxSize || found.count >= maxRows) return;
      }
    }
  };
  let window = INFERENCE_WINDOW_SIZE;
  for (const [name, files] of tables) {
    const found: ReadSoFar = { count: 0, size: 0, isWhole: false, unreadRow: undefined };
    all.set(name, found);
    const size = files.reduce((sum, file) => sum + expectedSize(file), 0);
    if (size <= SMALL_BYTES || counted.has(name)) {
      try {
        for (const file of files) await read(file, found);
        found.isWhole = true;
      } catch (error) {
        if (!(error instanceof TableError && error.code === 'invalid_row')) throw error;
        // Without a request to count, the rows before an invalid one can still be read.
        if (counted.has(name)) throw error;
        found.unreadRow ??= error;
      }
      unreadRow ??= found.unreadRow;
    } else {
      const [first, ...others] = files;
      const sample = (maxSize: number) => ({ maxSize, maxRows: INFERENCE_WINDOW_ROWS });
      if (first !== undefined) await read(first, found, sample(Math.max(window, SAMPLE_SIZE)));
      window -= found.size;
      const step = Math.max(1, Math.ceil(others.length / MAX_SAMPLED_FILES));
      for (const [index, other] of others.entries()) {
        const further: ReadSoFar = { count: 0, size: 0, isWhole: false, unreadRow: undefined };
        if (index % step === 0) await read(other, further, sample(SAMPLE_SIZE));
      }
    }
  }
  return { found: all, unreadRow };
}

interface ReadSoFar {
  count: number;
  size: number;
  isWhole: boolean;
  unreadRow: TableError | undefined;
}

const WHOLE = { maxSize: Number.POSITIVE_INFINITY, maxRows: Number.POSITIVE_INFINITY };

function expectedSize(file: ByteSource): number {
  return compressionOfFile(file) === 'none' ? file.byteLength : file.byteLength * EXPECTED_RATIO;
}

export class RowReader implements TextReader<RawRow> {
  readonly inference: Inference<RawRow>;
  readonly #format: 'json' | 'text';
  readonly #options: FormatOptions;

  constructor(format: 'json' | 'text', options: FormatOptions) {
    this.inference = format === 'json' ? new JsonInference() : TEXT;
    this.#format = format;
    this.#options = options;
  }

  async *rowsOf(file: CachedFile, signal: AbortSignal | undefined): AsyncGenerator<Iterable<RawRow>> {
    const { params, skipsInvalid } = this.#options;
    const options = { params, skipsInvalid, file: file.path, signal };
    for await (const row of readRows(file.read(signal), this.#format, options)) yield [row];
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

const TEXT: Inference<RawRow> = {
  isCsv: false,
  add: () => {},
  valueOf: ({ row }, name): JsonValue | undefined => (Object.hasOwn(row, name) ? row[name] : undefined),
  features: (): Features => [{ name: 'text', feature: valueFeature('string') }],
  warnings: () => [],
};
