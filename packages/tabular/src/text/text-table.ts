import { checkOptions, type UnreadRow } from '@svc/jsonl-v23/internal';
import { type JsonObject, setMember } from '@svc/jsonl-v23/json';
import { yieldToEventLoop } from '#runtime';
import { checkFlags, checkTextColumns, oneOf } from '../check-arguments.ts';
import { addUnread, TableError } from '../errors.ts';
import { checkColumnCount } from '../schema/check-column-count.ts';
import type { Features } from '../schema/features.ts';
import {
  INFERENCE_WINDOW_ROWS,
  INFERENCE_WINDOW_SIZE,
  inferSchema,
  type Schema,
  type SchemaBuilder,
  type TextFormat,
} from '../schema/infer-schema.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { type RowBatch, type Table, toCellRows, type WholeRange, wholeRange } from '../table.ts';
import { type CacheBudget, CachedFile } from './cached-file.ts';
import type { LoaderParams, RawRow, TextColumns } from './raw-row.ts';
import { readCsvHeader } from './read-csv.ts';
import { readRows } from './read-rows.ts';

/** Files of this size together are read whole at first: their types and counts are then exact. */
const SMALL_BYTES = 16 * 1024 * 1024;
/** Expected ratio of a compressed file. */
const EXPECTED_RATIO = 4;
/** Further files whose first rows are sampled for their columns. */
const MAX_SAMPLED_FILES = 4;
const SAMPLE_SIZE = 64 * 1024;
/** Some milliseconds of work. */
const FILES_PER_TURN = 4096;
/** Size of a batch of rows, in characters. */
const BATCH_SIZE = 1024 * 1024;
const MAX_BATCH_ROWS = 1000;
const NULL_SIZE = 4;

/** How text files are opened. */
export interface TextTablesOptions {
  readonly format: TextFormat;
  /** Parameters of the format; default none. */
  readonly params?: LoaderParams;
  /** Types that are declared for the columns. */
  readonly declared?: Features | undefined;
  /** Names of the tables whose rows must be counted; default none. */
  readonly count?: ReadonlySet<string>;
  readonly signal?: AbortSignal | undefined;
  /** Columns whose texts stay as they are written, whatever type they would have. */
  readonly textColumns?: TextColumns | undefined;
  /** Whether reading goes on after lines of JSON Lines, and rows of CSV with too many fields, that cannot be read. */
  readonly skipsInvalid?: boolean | undefined;
}

const TEXT_TABLES_OPTIONS: Readonly<Record<keyof TextTablesOptions, true>> = {
  format: true,
  params: true,
  declared: true,
  count: true,
  textColumns: true,
  skipsInvalid: true,
  signal: true,
};

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
  checkOptions('openTextTables', options, TEXT_TABLES_OPTIONS);
  const { format, params, declared, count = new Set(), signal, textColumns, skipsInvalid } = options;
  oneOf('format', format, ['json', 'csv', 'text']);
  checkTextColumns(textColumns);
  checkFlags({ skipsInvalid });
  const budget: CacheBudget = { bytes: SMALL_BYTES };
  const tables = new Map<string, readonly CachedFile[]>();
  for (const [name, sources] of files) {
    const cached: CachedFile[] = [];
    for (const source of sources) {
      cached.push(new CachedFile(source, budget));
      if (cached.length % FILES_PER_TURN === 0) await yieldToEventLoop();
    }
    tables.set(name, cached);
  }
  const rowsOf: RowReader = (file, reading) =>
    readRows(file.read(reading), format, {
      params,
      file: file.path,
      textColumns,
      skipsInvalid,
      signal: reading,
    });
  const builder = inferSchema(format, { declared, textColumns });
  const { counts, seen, unreadRow } = await scan(tables, builder, count, (file) => rowsOf(file, signal));
  const isEmpty = unreadRow === undefined && [...seen.values()].every((rows) => rows === 0);
  if (format === 'csv' && isEmpty) {
    for (const file of [...tables.values()].flat()) {
      const row = await readCsvHeader(file.read(signal), params ?? {}, { file: file.path, signal });
      builder.add({ row, line: 1, size: 0 });
    }
  }
  const schema = builder.finish();
  checkColumnCount(schema.features.length);
  return new Map(
    [...tables].map(([name, cached]): [string, Table] => {
      const read = (range: WholeRange): AsyncGenerator<RowBatch> => readTable(cached, rowsOf, schema, range);
      const table: Table = {
        features: schema.features,
        warnings: schema.warnings,
        unreadRow,
        rowCount: counts.get(name),
        atLeastRows: seen.get(name) ?? 0,
        read: (range) => read(wholeRange(schema.features, range)),
        readCells: (range) => {
          const whole = wholeRange(schema.features, range);
          return toCellRows(read(whole), whole.columns);
        },
      };
      return [name, table];
    }),
  );
}

type RowReader = (file: CachedFile, signal: AbortSignal | undefined) => AsyncGenerator<RawRow>;

/** Reads the rows from which the columns are inferred. */
async function scan(
  tables: ReadonlyMap<string, readonly CachedFile[]>,
  builder: SchemaBuilder,
  counted: ReadonlySet<string>,
  rowsOf: (file: CachedFile) => AsyncGenerator<RawRow>,
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
async function scanAll(
  files: readonly CachedFile[],
  builder: SchemaBuilder,
  rowsOf: (file: CachedFile) => AsyncGenerator<RawRow>,
): Promise<{ count: number; error?: TableError; unreadRow: TableError | undefined }> {
  let count = 0;
  let unreadRow: TableError | undefined;
  try {
    for (const file of files) {
      for await (const row of rowsOf(file)) {
        if (row.error === undefined) builder.add(row);
        else unreadRow ??= row.error;
        count += 1;
      }
    }
  } catch (error) {
    if (!(error instanceof TableError && error.code === 'invalid_row')) throw error;
    return { count, error, unreadRow };
  }
  return { count, unreadRow };
}

/** Reads the first rows of a file. */
async function scanHead(
  file: CachedFile,
  builder: SchemaBuilder,
  rowsOf: (file: CachedFile) => AsyncGenerator<RawRow>,
  maxSize: number,
): Promise<{ count: number; size: number }> {
  let count = 0;
  let size = 0;
  for await (const row of rowsOf(file)) {
    if (row.error === undefined) builder.add(row);
    count += 1;
    size += row.size;
    if (size >= maxSize || count >= INFERENCE_WINDOW_ROWS) break;
  }
  return { count, size };
}

function expectedSize({ compression, byteLength }: CachedFile): number {
  return compression === 'none' ? byteLength : byteLength * EXPECTED_RATIO;
}

async function* readTable(
  files: readonly CachedFile[],
  rowsOf: RowReader,
  schema: Schema,
  { from, to: end, columns, signal }: WholeRange,
): AsyncGenerator<RowBatch> {
  let index = 0;
  let rows: JsonObject[] = [];
  let invalid: Map<number, UnreadRow | null> | undefined;
  let size = 0;
  const take = (): RowBatch => {
    const batch = { firstRow: index - rows.length, rows, invalid };
    rows = [];
    invalid = undefined;
    size = 0;
    return batch;
  };
  try {
    for (const file of files) {
      if (index >= end) break;
      for await (const raw of rowsOf(file, signal)) {
        if (index >= from) {
          const { error } = raw;
          if (error !== undefined) {
            invalid ??= new Map();
            addUnread(invalid, rows.length, () => error);
          }
          rows.push(project(schema.toRow(raw.row), columns));
          // Columns that the file does not have are null in the row.
          size += Math.max(raw.size, columns.length * NULL_SIZE);
        }
        index += 1;
        if (index >= end) break;
        if (size >= BATCH_SIZE || rows.length >= MAX_BATCH_ROWS) yield take();
      }
    }
  } catch (error) {
    // The rows before it can be read.
    const isLast = error instanceof TableError && error.code === 'invalid_row';
    if (isLast && rows.length > 0) yield take();
    throw error;
  }
  if (rows.length > 0) yield take();
}

function project(row: JsonObject, columns: readonly string[]): JsonObject {
  const projected: JsonObject = {};
  for (const name of columns)
    setMember(projected, name, Object.hasOwn(row, name) ? (row[name] ?? null) : null);
  return projected;
}
