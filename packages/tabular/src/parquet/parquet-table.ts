import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { yieldToEventLoop } from '#runtime';
import { checkFlags } from '../check-arguments.ts';
import { TableError } from '../errors.ts';
import { applyDeclared, byName, unappliedWarnings } from '../schema/apply-declared.ts';
import type { Feature, Features } from '../schema/features.ts';
import { mergeFeatures } from '../schema/merge-features.ts';
import { type ByteSource, createExpansionMeter } from '../source/byte-source.ts';
import { type RowBatch, type Table, type WholeRange, wholeRange } from '../table.ts';
import { type CellConverter, compileCell } from './cells/cell.ts';
import type { Decompressors } from './codecs/inflate-page.ts';
import { openParquet, type ParquetFile } from './open-parquet.ts';
import { translateErrors } from './parquet-error.ts';
import { type ColumnBatch, readParquet } from './read-parquet.ts';

/** Footers that are read at the same time. */
const CONCURRENT_FOOTERS = 6;
/** Footers kept in memory; further ones are read again with their rows. */
const MAX_KEPT_FOOTERS = 64;
const BATCH_BYTES = 4 * 1024 * 1024;

/** How the files of a table are opened. */
export interface ParquetTableOptions {
  /** Types that are declared for the columns. */
  readonly declared?: Features | undefined;
  /**
   * Whether to read the footers of all files when the table is opened, which gives the exact count of rows, or only the
   * first file's. Default true.
   */
  readonly everyFooter?: boolean;
  /** Functions that decompress pages; they precede the runtime's. Browsers need one for Brotli. */
  readonly decompressors?: Decompressors | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens Parquet files as one table: their rows follow each other. It has the columns of the files whose footers are
 * read.
 *
 * @throws TableError `damaged_file`, `unsupported_file`; errors of the sources; the signal's reason; TypeError for an option
 *   that does not exist or cannot be
 */
export async function openParquetTable(
  files: readonly ByteSource[],
  options: ParquetTableOptions = {},
): Promise<Table> {
  const { declared, everyFooter = true, decompressors, signal } = options;
  checkFlags({ everyFooter });
  const footers = new Footers(files);
  const opened = everyFooter ? files.length : Math.min(files.length, 1);
  const stored = await footers.readFirst(opened, signal);
  const merged = mergeFeatures(stored);
  const features = applyDeclared(merged, declared, { addMissing: true });
  const warnings = unappliedWarnings(merged, declared);
  const atLeastRows = footers.rowCounts.reduce((sum, count) => sum + count, 0);
  const reading = { declared, decompressors, nonNumbers: 0 };
  return {
    features,
    // Some warnings count the rows that were read.
    get warnings() {
      const { nonNumbers: count } = reading;
      if (count === 0) return warnings;
      return [...warnings, `NaN and infinities are read as null: ${count} in the rows that were read.`];
    },
    rowCount: opened === files.length ? atLeastRows : undefined,
    atLeastRows,
    read: (range) => readFiles(footers, wholeRange(features, range), reading),
  };
}

class Footers {
  readonly files: readonly ByteSource[];
  readonly rowCounts: number[] = [];
  readonly #kept = new Map<number, ParquetFile>();

  constructor(files: readonly ByteSource[]) {
    this.files = files;
  }

  /** Opens the first files. @returns their columns */
  async readFirst(count: number, signal: AbortSignal | undefined): Promise<Features[]> {
    const found: Features[] = [];
    // No footer waits for a slower one, and the first error ends the generator, and so all work.
    const left = (function* (): Generator<number> {
      for (let index = 0; index < count; index += 1) yield index;
    })();
    const work = async (): Promise<void> => {
      for (const index of left) found[index] = (await this.open(index, signal)).features;
    };
    await Promise.all(Array.from({ length: CONCURRENT_FOOTERS }, work));
    return found;
  }

  async open(index: number, signal: AbortSignal | undefined): Promise<ParquetFile> {
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    const source = this.files[index];
    if (source === undefined) throw new RangeError(`The table has no file ${index}.`);
    const file = await openParquet(source, signal);
    this.rowCounts[index] = file.rowCount;
    if (this.#kept.size < MAX_KEPT_FOOTERS) this.#kept.set(index, file);
    return file;
  }
}

interface Reading extends Pick<ParquetTableOptions, 'declared' | 'decompressors'> {
  nonNumbers: number;
}

async function* readFiles(
  footers: Footers,
  { from, to: end, columns: names, signal }: WholeRange,
  reading: Reading,
): AsyncGenerator<RowBatch> {
  const { files, rowCounts } = footers;
  let firstRow = 0;
  let ahead: Promise<ParquetFile> | null = null;
  for (let index = 0; index < files.length && firstRow < end; index += 1) {
    const rowCount = rowCounts[index];
    if (rowCount !== undefined && firstRow + rowCount <= from) {
      firstRow += rowCount;
      continue;
    }
    const file: ParquetFile = await (ahead ?? footers.open(index, signal));
    // The next footer is fetched together with this file's rows.
    const hasMore = index + 1 < files.length && firstRow + file.rowCount < end;
    ahead = hasMore ? footers.open(index + 1, signal) : null;
    ahead?.catch(() => undefined);
    const features = byName(applyDeclared(file.features, reading.declared));
    const rows = { from: Math.max(from - firstRow, 0), to: Math.min(end - firstRow, file.rowCount) };
    const { decompressors } = reading;
    const batches = readParquet(file, { ...rows, columns: names, decompressors, signal });
    for await (const batch of toBatches(file, batches, names, features, reading)) {
      yield { ...batch, firstRow: firstRow + batch.firstRow };
    }
    firstRow += file.rowCount;
  }
}

/** The rows of a file. They are measured before they are made: all may refer to one long value. */
async function* toBatches(
  file: ParquetFile,
  batches: AsyncIterable<ColumnBatch>,
  names: readonly string[],
  features: ReadonlyMap<string, Feature>,
  reading: Reading,
): AsyncGenerator<RowBatch> {
  const columns = names.map((name): Column => {
    const feature = features.get(name);
    return { name, convert: feature === undefined ? null : compileCell(feature) };
  });
  const count = createExpansionMeter(file.bytes);
  for await (const batch of batches) {
    for (let start = 0; start < batch.rowCount; ) {
      let end = start;
      for (let bytes = 0; end < batch.rowCount && bytes < BATCH_BYTES; end += 1) {
        const location = { file: file.path, row: batch.firstRow + end };
        const row = measureRow(cellsOf(batch, end, names), location);
        count(row.bytes);
        reading.nonNumbers += row.nonNumbers;
        bytes += row.bytes;
      }
      const rows = translateErrors(file.path, () => toRows(batch, columns, start, end));
      yield { firstRow: batch.firstRow + start, rows };
      start = end;
      await yieldToEventLoop();
    }
  }
}

function* cellsOf({ columns }: ColumnBatch, row: number, names: Iterable<string>): Generator<unknown> {
  for (const name of names) {
    const cells = columns.get(name);
    if (cells !== undefined) yield cells[row];
  }
}

/** More than any item may have; a JavaScript string ends at twice as much. */
const MAX_ROW_BYTES = 256 * 1024 * 1024;

/**
 * The minimum length of the JSON of a row, without writing it: repeated references to a value take no memory until then.
 * It also counts NaN and infinities, which become null.
 * @throws TableError `invalid_row` if the row has more than any item may have
 */
export function measureRow(
  cells: Iterable<unknown>,
  location: { file: string; row: number },
): { bytes: number; nonNumbers: number } {
  let bytes = 0;
  let nonNumbers = 0;
  const add = (cell: unknown): void => {
    if (typeof cell === 'string') bytes += cell.length + 2;
    else if (cell instanceof Uint8Array) bytes += Math.ceil(cell.length / 3) * 4;
    else if (Array.isArray(cell) || cell instanceof Float32Array || cell instanceof Float64Array) {
      bytes += 2;
      for (const item of cell) add(item);
    } else if (typeof cell === 'object' && cell !== null && !ArrayBuffer.isView(cell)) {
      for (const value of Object.values(cell)) add(value);
    } else {
      bytes += 1;
      if (typeof cell === 'number' && !Number.isFinite(cell)) nonNumbers += 1;
    }
    if (bytes > MAX_ROW_BYTES) {
      throw new TableError('invalid_row', `The row has more than ${MAX_ROW_BYTES} bytes.`, { location });
    }
  };
  for (const cell of cells) add(cell);
  return { bytes, nonNumbers };
}

interface Column {
  readonly name: string;
  /** Null if the file does not have the column. */
  readonly convert: CellConverter | null;
}

/** @param to exclusive */
function toRows(batch: ColumnBatch, columns: readonly Column[], from: number, to: number): JsonObject[] {
  const rows = Array.from({ length: to - from }, (): JsonObject => ({}));
  for (const { name, convert } of columns) {
    const cells = batch.columns.get(name);
    const isMissing = cells === undefined || convert === null;
    for (let index = 0; index < rows.length; index += 1) {
      const row = rows[index] as JsonObject;
      const value: JsonValue = isMissing ? null : convert(cells[from + index]);
      // An own member of any name; assigning this one would change the object's prototype.
      if (name === '__proto__') setMember(row, name, value);
      else row[name] = value;
    }
  }
  return rows;
}
