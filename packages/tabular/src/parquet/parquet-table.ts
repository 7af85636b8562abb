import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { yieldToEventLoop } from '#runtime';
import { checkFlags } from '../check-arguments.ts';
import { applyDeclared, byName, unappliedWarnings } from '../schema/apply-declared.ts';
import type { Feature, Features } from '../schema/features.ts';
import { mergeFeatures } from '../schema/merge-features.ts';
import { type ByteSource, createExpansionMeter, rowBytes } from '../source/byte-source.ts';
import { type RowBatch, type Table, type WholeRange, wholeRange } from '../table.ts';
import { type CellConverter, compileCell, mayHaveNonNumbers, NonNumberCounter } from './cells/cell.ts';
import type { Decompressors } from './codecs/inflate-page.ts';
import { openParquet, type ParquetFile } from './open-parquet.ts';
import { translateErrors } from './parquet-error.ts';
import { type ColumnBatch, readParquet } from './read-parquet.ts';

/** Footers that are read at the same time. */
const CONCURRENT_FOOTERS = 6;
/** Footers kept in memory; further ones are read again with their rows. */
const MAX_KEPT_FOOTERS = 64;
/** Size of a batch of rows. */
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
  const footers = new Footers(files, decompressors);
  const opened = everyFooter ? files.length : Math.min(files.length, 1);
  const stored = await footers.readFirst(opened, signal);
  const merged = mergeFeatures(stored);
  const features = applyDeclared(merged, declared, { addMissing: true });
  const warnings = unappliedWarnings(merged, declared);
  const atLeastRows = footers.rowCounts.reduce((sum, count) => sum + count, 0);
  const nonNumbers = new NonNumberCounter();
  return {
    features,
    // Some warnings count the rows that were read.
    get warnings() {
      return [...warnings, ...nonNumbers.warnings];
    },
    rowCount: opened === files.length ? atLeastRows : undefined,
    atLeastRows,
    read: (range) =>
      readFiles(footers, wholeRange(features, range), (part) => readRows(part, declared, nonNumbers)),
  };
}

/** Opens the files of a table, and keeps the first footers. */
class Footers {
  readonly files: readonly ByteSource[];
  readonly decompressors: Decompressors | undefined;
  /** Rows by file, where known. */
  readonly rowCounts: number[] = [];
  readonly #kept = new Map<number, ParquetFile>();

  constructor(files: readonly ByteSource[], decompressors: Decompressors | undefined) {
    this.files = files;
    this.decompressors = decompressors;
  }

  /** Opens the first files. @returns their columns */
  async readFirst(count: number, signal: AbortSignal | undefined): Promise<Features[]> {
    const found: Features[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < count) {
        const index = next;
        next += 1;
        found[index] = (await this.open(index, signal)).features;
      }
    };
    await Promise.all(Array.from({ length: Math.min(count, CONCURRENT_FOOTERS) }, work));
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

/** Some rows of one file. */
interface FilePart {
  readonly file: ParquetFile;
  /** Index of the file's first row in the table. */
  readonly firstRow: number;
  /** Rows of the file. */
  readonly from: number;
  readonly to: number;
  readonly names: readonly string[];
  readonly decompressors: Decompressors | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads the files that hold the range, each by `readFile`. */
async function* readFiles<T>(
  footers: Footers,
  { from, to: end, columns, signal }: WholeRange,
  readFile: (part: FilePart) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const { files, rowCounts, decompressors } = footers;
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
    const rows = { from: Math.max(from - firstRow, 0), to: Math.min(end - firstRow, file.rowCount) };
    const part = { file, firstRow, ...rows, names: columns, decompressors, signal };
    if (rows.from < rows.to) yield* readFile(part);
    firstRow += file.rowCount;
  }
}

async function* readRows(
  part: FilePart,
  declared: Features | undefined,
  nonNumbers: NonNumberCounter,
): AsyncGenerator<RowBatch> {
  const { file, firstRow, names, ...range } = part;
  const own = ownFeatures(file, declared);
  const columns = names.map((name): Column => {
    const feature = own.get(name);
    return { name, convert: feature === undefined ? null : compileCell(feature) };
  });
  const present = names.filter((name) => own.has(name));
  const floats = present.filter((name) => mayHaveNonNumbers(own.get(name) as Feature));
  const meter = createExpansionMeter(file.bytes);
  for await (const batch of readParquet(file, { columns: present, ...range })) {
    for (let start = 0; start < batch.rowCount; ) {
      // Rows are measured before they are made: all may refer to one long value.
      let end = start;
      for (let bytes = 0; end < batch.rowCount && bytes < BATCH_BYTES; end += 1) {
        const location = { file: file.path, row: batch.firstRow + end };
        const row = rowBytes(cellsOf(batch, end, present), location);
        meter.add(row);
        for (const cell of cellsOf(batch, end, floats)) nonNumbers.add(cell);
        bytes += row;
      }
      const rows = translateErrors(file.path, () => toRows(batch, columns, start, end));
      yield { firstRow: firstRow + batch.firstRow + start, rows };
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

function ownFeatures({ features }: ParquetFile, declared: Features | undefined): Map<string, Feature> {
  return byName(applyDeclared(features, declared));
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
