import { CellWriter } from '@svc/jsonl-v23/internal';
import { type JsonObject, type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { yieldToEventLoop } from '#runtime';
import type { Feature, Features } from '../schema/features.ts';
import { mergeFeatures } from '../schema/merge-features.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { createExpansionMeter, rowBytes } from '../source/expansion-limit.ts';
import type { CellRows, RowBatch, RowRange, SplitSource } from '../table.ts';
import { compileCell } from './cell.ts';
import { StringColumn } from './encodings/string-column.ts';
import { textOf } from './parquet-codec.ts';
import { applyDeclared } from './parquet-features.ts';
import { type ColumnBatch, openParquet, type ParquetFile, readParquet } from './read-parquet.ts';

/** Footers that are read at the same time. */
const CONCURRENT_FOOTERS = 6;
/** Footers kept in memory; those of further files are read again when their rows are. */
const MAX_KEPT_FOOTERS = 64;
/** Rows are handed on in batches of about this size. */
const BATCH_BYTES = 4 * 1024 * 1024;
/** Cells are handed on in batches of this size: some hundred usual rows, enough to be worth a thread's while. */
const CELL_BATCH_BYTES = 256 * 1024;

/**
 * Opens the Parquet files of a split. What the files have in common is taken from the first footer, or from all of
 * them, which tells the exact count of rows too.
 *
 * @param options.everyFooter whether all files are to be looked at, two requests each
 */
export async function openParquetSource(
  files: readonly ByteSource[],
  options: { declared: Features | null; everyFooter: boolean; signal: AbortSignal | undefined },
): Promise<SplitSource> {
  const { declared, signal } = options;
  const kept = new Map<number, ParquetFile>();
  const counts: number[] = [];
  const found: Features[] = [];

  async function open(index: number, reading: AbortSignal | undefined): Promise<ParquetFile> {
    const known = kept.get(index);
    if (known !== undefined) return known;
    const file = await openParquet(files[index]!, reading);
    counts[index] = file.rowCount;
    if (kept.size < MAX_KEPT_FOOTERS) kept.set(index, file);
    return file;
  }

  const first = options.everyFooter ? files.length : Math.min(files.length, 1);
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(first, CONCURRENT_FOOTERS) }, async () => {
      while (next < first) {
        const index = next++;
        found[index] = (await open(index, signal)).features;
      }
    }),
  );
  const features = applyDeclared(mergeFeatures(found), declared, { addMissing: true });
  const atLeastRows = counts.reduce((sum, count) => sum + count, 0);

  return {
    features,
    rowCount: first === files.length ? atLeastRows : null,
    atLeastRows,
    read: (range) => readFiles(range, readRows),
    readCells: (range) => readFiles(range, readCells),
  };

  /** Reads the files that hold the range, each by `readFile`. */
  async function* readFiles<T>(
    { from, to, columns, signal: reading }: RowRange,
    readFile: (part: FilePart) => AsyncGenerator<T>,
  ): AsyncGenerator<T> {
    const end = to ?? Number.POSITIVE_INFINITY;
    let firstRow = 0;
    let ahead: Promise<ParquetFile> | null = null;
    for (let index = 0; index < files.length && firstRow < end; index++) {
      const known = counts[index];
      if (known !== undefined && firstRow + known <= from) {
        firstRow += known;
        continue;
      }
      const file: ParquetFile = await (ahead ?? open(index, reading));
      // The next footer is fetched while this file's rows are.
      const more = index + 1 < files.length && firstRow + file.rowCount < end;
      ahead = more ? open(index + 1, reading) : null;
      ahead?.catch(() => undefined);
      const range = { from: Math.max(from - firstRow, 0), to: Math.min(end - firstRow, file.rowCount) };
      if (range.from < range.to) {
        yield* readFile({ file, firstRow, ...range, names: columns, declared, signal: reading });
      }
      firstRow += file.rowCount;
    }
  }
}

/** What is to be read of one file. */
interface FilePart {
  file: ParquetFile;
  /** Index of the file's first row in the split. */
  firstRow: number;
  /** Rows of the file. */
  from: number;
  to: number;
  names: readonly string[];
  declared: Features | null;
  signal: AbortSignal | undefined;
}

async function* readRows({ file, firstRow, names, declared, ...range }: FilePart): AsyncGenerator<RowBatch> {
  const own = ownFeatures(file, declared);
  const columns = names.map((name): Column => {
    const feature = own.get(name);
    return { name, convert: feature === undefined ? null : compileCell(feature) };
  });
  const present = names.filter((name) => own.has(name));
  const meter = createExpansionMeter(file.bytes);
  for await (const batch of readParquet(file, { columns: present, ...range })) {
    for (let at = 0; at < batch.rowCount; ) {
      // Rows are weighed before anything is made of them: one value may stand in each.
      let end = at;
      for (let bytes = 0; end < batch.rowCount && bytes < BATCH_BYTES; end++) {
        const row = rowBytes(cellsOf(batch, end, present), { file: file.path, row: batch.firstRow + end });
        meter.add(row);
        bytes += row;
      }
      yield { firstRow: firstRow + batch.firstRow + at, rows: toRows(batch, columns, at, end) };
      at = end;
      await yieldToEventLoop();
    }
  }
}

function* cellsOf({ columns }: ColumnBatch, row: number, names: Iterable<string>): Generator<unknown> {
  for (const name of names) {
    const cells = columns.get(name);
    if (cells !== undefined && !(cells instanceof StringColumn)) yield cells[row];
  }
}

function ownFeatures({ features }: ParquetFile, declared: Features | null): Map<string, Feature> {
  return new Map(applyDeclared(features, declared).map(({ name, feature }) => [name, feature]));
}

/** Texts go from the file into their cells as the bytes that they are. */
async function* readCells({ file, firstRow, names, declared, ...range }: FilePart): AsyncGenerator<CellRows> {
  const own = ownFeatures(file, declared);
  const present = names.filter((name) => own.has(name));
  const leafCounts = new Map(file.footer.columns.map(({ name, leaves }) => [name, leaves.length]));
  const textSlices = new Set(
    present.filter((name) => leafCounts.get(name) === 1 && isPlainText(own.get(name)!)),
  );
  // One cell of these may refer to a long value any number of times.
  const nested = present.filter((name) => !textSlices.has(name) && own.get(name)!.kind !== 'value');
  const converters = names.map((name) => {
    const feature = own.get(name);
    return feature === undefined ? null : compileCell(feature);
  });
  const writer = new CellWriter();
  const meter = createExpansionMeter(file.bytes);
  let rowCount = 0;
  let next = firstRow + range.from;
  const take = (): CellRows => {
    meter.add(writer.byteLength);
    const rows = { firstRow: next, rowCount, ...writer.end() };
    next += rowCount;
    rowCount = 0;
    return rows;
  };
  for await (const batch of readParquet(file, { columns: present, textSlices, ...range })) {
    const columns = names.map((name) => batch.columns.get(name));
    for (let row = 0; row < batch.rowCount; row++) {
      if (nested.length > 0) {
        rowBytes(cellsOf(batch, row, nested), { file: file.path, row: batch.firstRow + row });
      }
      for (let column = 0; column < columns.length; column++) {
        const cells = columns[column];
        const convert = converters[column]!;
        if (cells === undefined || convert === null) writer.value(null);
        else if (!(cells instanceof StringColumn)) writer.value(convert(cells[row]));
        else {
          const start = cells.starts[row]!;
          const end = cells.ends[row]!;
          if (start === -1) writer.value(null);
          else if (!writer.text(cells.bytes, start, end)) textOf(cells.bytes.subarray(start, end), file.path);
        }
      }
      rowCount++;
      if (writer.byteLength >= CELL_BATCH_BYTES) yield take();
    }
  }
  if (rowCount > 0) yield take();
}

/** Whether a leaf column holds texts of which nothing is made. */
function isPlainText(feature: Feature): boolean {
  return feature.kind === 'value' && /string/.test(feature.dtype);
}

interface Column {
  name: string;
  /** null where the file lacks the column. */
  convert: ((cell: unknown) => JsonValue) | null;
}

function toRows(batch: ColumnBatch, columns: readonly Column[], from: number, to: number): JsonObject[] {
  const rows: JsonObject[] = Array.from({ length: to - from }, () => ({}));
  for (const { name, convert } of columns) {
    const cells = batch.columns.get(name);
    for (let row = from; row < to; row++) {
      const value =
        cells === undefined || cells instanceof StringColumn || convert === null ? null : convert(cells[row]);
      // An own member of any name; assigning this one would change the object's prototype.
      if (name === '__proto__') setMember(rows[row - from]!, name, value);
      else rows[row - from]![name] = value;
    }
  }
  return rows;
}
