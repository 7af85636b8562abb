import { CellWriter, transferBuffer, type UnreadRow, wordsOf } from '@svc/jsonl-v23/internal';
import { type JsonObject, type JsonValue, parseJson, setMember } from '@svc/jsonl-v23/json';
import { addUnread, TableError } from '../errors.ts';
import { type Features, valueFeature } from '../schema/features.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { type CellRows, type RowBatch, type Table, type WholeRange, wholeRange } from '../table.ts';
import { CachedFile } from '../text/cached-file.ts';
import { DEFAULT_MAX_ROW_SIZE, isTextColumn, type TextColumns } from '../text/raw-row.ts';
import { uniqueNames } from '../text/read-csv.ts';
import { CsvScanner } from './csv-scanner.ts';
import {
  type CsvColumnShape,
  csvValueKind,
  dtypeOfShape,
  emptyShape,
  noteSpelling,
  noteValue,
  spellingWarnings,
} from './csv-values.ts';
import { RecordReader } from './record-reader.ts';
import { utf8Chunks } from './utf8-chunks.ts';

/** How a CSV file is written. */
export interface CsvOptions {
  /** One ASCII character. */
  readonly delimiter: string;
  /** One ASCII character; null if quotes are ordinary characters. */
  readonly quote: string | null;
  /** As Python or the web call it. */
  readonly encoding: string;
  /** Whether the first row has the names; otherwise they are `0`, `1` and so on. */
  readonly header: boolean;
}

/** How a CSV file is opened. */
export interface CsvTableOptions extends CsvOptions {
  /** Columns that keep their texts, missing values too. */
  readonly textColumns: TextColumns;
  /** Whether types come from all rows; otherwise from the first ones. */
  readonly wholeFile: boolean;
  /** Whether reading goes on after rows that cannot be read, where it can. */
  readonly skipsInvalid: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Types that do not come from all rows come from so many bytes, and from so many rows: as many as a preview shows. */
const FIRST_BYTES = 1024 * 1024;
const FIRST_ROWS = 100;
/** A file of this size is read whole: its rows are counted. */
const COUNTED_BYTES = 4 * 1024 * 1024;
/** Content that is kept for the second reading. */
const CACHED_BYTES = COUNTED_BYTES;
/** Size of a batch of cells: enough to be worth posting to a thread. */
const CELL_BATCH_BYTES = 256 * 1024;
const MAX_BATCH_ROWS = 10_000;

/**
 * Opens a CSV file as a table in which text stays text: a column is a number or a truth value only if every value is
 * written as its JSON text (`1.50`, `001` and `+1` are texts), and a word for a missing value, `NA`, `null`, `None` or
 * nothing, is null only in columns that are not text. Every row must have as many fields as the first one.
 *
 * @throws TableError `invalid_row` with file, line and column, `unsupported_file`, `damaged_file`; while rows are read
 *   `type_changed`, unless the types come from all rows; errors of the source; the signal's reason
 */
export async function openCsvTable(source: ByteSource, options: CsvTableOptions): Promise<Table> {
  const reader = new CsvReader(new CachedFile(source, { bytes: CACHED_BYTES }), options);
  const scan = await reader.scan();
  const { names, shapes, rowCount, isWhole } = scan;
  const features = (): Features =>
    names.map((name, index) => ({
      name,
      feature: valueFeature(dtypeOfShape(shapes[index] as CsvColumnShape)),
    }));
  return {
    get features(): Features {
      return features();
    },
    rowCount: isWhole ? rowCount : undefined,
    atLeastRows: rowCount,
    warnings: spellingWarnings(names, shapes),
    read: (range) => {
      const whole = wholeRange(features(), range);
      return toRows(reader.readCells(scan, whole), whole.columns);
    },
    readCells: (range) => reader.readCells(scan, wholeRange(features(), range)),
  };
}

/** What the first reading has found. */
interface CsvScan {
  readonly names: readonly string[];
  readonly shapes: readonly CsvColumnShape[];
  readonly rowCount: number;
  /** Whether all rows were read. */
  readonly isWhole: boolean;
}

class CsvReader {
  readonly #file: CachedFile;
  readonly #options: CsvTableOptions;
  #unescaped: Uint8Array = new Uint8Array(0);
  #unescapedWords: DataView = wordsOf(this.#unescaped);

  constructor(file: CachedFile, options: CsvTableOptions) {
    this.#file = file;
    this.#options = options;
  }

  /** Reads the names, and values until the type of every column is known. */
  async scan(): Promise<CsvScan> {
    const { wholeFile, signal } = this.#options;
    const mustCount = this.#file.compression === 'none' && this.#file.byteLength <= COUNTED_BYTES;
    let names: string[] | null = null;
    let shapes: CsvColumnShape[] = [];
    let rowCount = 0;
    let isWhole = true;
    let readBytes = 0;
    const reader = new RecordReader(this.#options.skipsInvalid);
    const quote = quoteOf(this.#options);
    for await (const scanner of this.#chunks(signal)) {
      while (reader.next(scanner)) {
        if (names === null) {
          names = this.#namesOf(scanner);
          shapes = names.map((name) => emptyShape(isTextColumn(this.#options.textColumns, name)));
          if (this.#options.header) continue;
        }
        rowCount += 1;
        if (scanner.fieldCount === names.length) noteRow(scanner, shapes, quote);
        else if (!this.#options.skipsInvalid) throw wrongWidth(scanner, names.length);
      }
      readBytes = scanner.readBytes;
      const isKnown = names !== null && shapes.every(({ kind }) => kind === 'text');
      const isEnough = !wholeFile && readBytes >= FIRST_BYTES && rowCount >= FIRST_ROWS;
      isWhole = mustCount || !(isKnown || isEnough);
      if (!isWhole || reader.end !== null) break;
    }
    if (names === null) {
      const location = { file: this.#file.path };
      throw (
        reader.end ??
        new TableError('unsupported_file', 'Cannot read the file: it has no rows.', { location })
      );
    }
    for (const shape of shapes) shape.wasOther = false;
    return { names, shapes, rowCount, isWhole: isWhole && reader.end === null };
  }

  async *readCells(
    { names, shapes, isWhole }: CsvScan,
    { from, to: end, columns, signal }: WholeRange,
  ): AsyncGenerator<CellRows> {
    const { skipsInvalid } = this.#options;
    const indexOf = new Map(names.map((name, index) => [name, index]));
    const indexes = columns.map((name) => indexOf.get(name) ?? -1);
    const writer = new CellWriter();
    let row = 0;
    let firstRow = from;
    let invalid: Map<number, UnreadRow | null> | undefined;
    let isFirst = this.#options.header;
    const reader = new RecordReader(skipsInvalid);
    const quote = quoteOf(this.#options);
    for await (const scanner of this.#chunks(signal)) {
      while (row < end && reader.next(scanner)) {
        if (isFirst) {
          isFirst = false;
          continue;
        }
        row += 1;
        const hasWidth = scanner.fieldCount === names.length;
        if (!(hasWidth || skipsInvalid)) throw wrongWidth(scanner, names.length);
        if (hasWidth && !isWhole) noteRow(scanner, shapes, quote);
        if (row <= from) continue;
        const rowCount = row - firstRow;
        let faulty: number | null = null;
        if (hasWidth) faulty = this.#writeRow(writer, scanner, indexes, shapes);
        else for (const _ of indexes) writer.value(null);
        if (!hasWidth || faulty !== null) {
          const reasonOf = (): TableError =>
            faulty === null ? wrongWidth(scanner, names.length) : notUtf8(scanner, faulty);
          if (!skipsInvalid) throw reasonOf();
          invalid ??= new Map();
          addUnread(invalid, rowCount - 1, reasonOf);
        }
        if (writer.byteLength < CELL_BATCH_BYTES && rowCount < MAX_BATCH_ROWS) continue;
        yield { firstRow, rowCount, invalid, ...writer.end() };
        firstRow = row;
        invalid = undefined;
      }
      if (row >= end || reader.end !== null) break;
    }
    if (row > firstRow) yield { firstRow, rowCount: row - firstRow, invalid, ...writer.end() };
    if (reader.end !== null) throw reader.end;
  }

  /** Writes the cells of a row. @returns the first field that is not UTF-8 @throws TableError `type_changed` */
  #writeRow(
    writer: CellWriter,
    scanner: CsvScanner,
    indexes: readonly number[],
    shapes: readonly CsvColumnShape[],
  ): number | null {
    let faulty: number | null = null;
    for (const index of indexes) {
      if (this.#writeCell(writer, scanner, index, shapes[index])) continue;
      writer.value(null);
      faulty ??= index;
    }
    return faulty;
  }

  /** Writes a cell. @returns whether it is UTF-8 @throws TableError `type_changed` */
  #writeCell(
    writer: CellWriter,
    scanner: CsvScanner,
    index: number,
    shape: CsvColumnShape | undefined,
  ): boolean {
    if (shape === undefined) {
      writer.value(null);
      return true;
    }
    const { bytes, words } = scanner;
    const start = scanner.starts[index] as number;
    const end = scanner.ends[index] as number;
    if (shape.kind === 'text') {
      if (shape.wasOther) throw typeChanged(scanner, start);
      return scanner.escaped[index] === 0
        ? writer.text(bytes, start, end, words)
        : this.#writeEscaped(writer, bytes, start, end);
    }
    if (csvValueKind(bytes, start, end) === 'null') writer.value(null);
    else writer.canonical(bytes, start, end);
    return true;
  }

  /** Writes a field in which quotes are doubled. */
  #writeEscaped(writer: CellWriter, bytes: Uint8Array, start: number, end: number): boolean {
    if (this.#unescaped.length < end - start) {
      this.#unescaped = new Uint8Array(2 * (end - start));
      this.#unescapedWords = wordsOf(this.#unescaped);
    }
    const to = halveQuotes(bytes, start, end, this.#unescaped, quoteOf(this.#options));
    return writer.text(this.#unescaped, 0, to, this.#unescapedWords);
  }

  #namesOf(scanner: CsvScanner): string[] {
    const quote = quoteOf(this.#options);
    const fields = Array.from({ length: scanner.fieldCount }, (_, index) => {
      const start = scanner.starts[index] as number;
      const end = scanner.ends[index] as number;
      const name = new Uint8Array(end - start);
      const length = halveQuotes(scanner.bytes, start, end, name, scanner.escaped[index] === 0 ? -1 : quote);
      try {
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name.subarray(0, length));
      } catch {
        throw notUtf8(scanner, index);
      }
    });
    return this.#options.header ? uniqueNames(fields) : fields.map((_, index) => String(index));
  }

  /** The scanner, after each chunk of the file. */
  async *#chunks(signal: AbortSignal | undefined): AsyncGenerator<CsvScanner> {
    const { delimiter, encoding } = this.#options;
    const dialect = { delimiter: delimiter.charCodeAt(0), quote: quoteOf(this.#options) };
    const scanner = new CsvScanner(dialect, this.#file.path, DEFAULT_MAX_ROW_SIZE);
    const content = this.#file.read(signal);
    // What comes out of zlib may share its memory with the next chunk.
    const isOwn = this.#file.compression === 'none';
    for await (const chunk of utf8Chunks(content, { file: this.#file.path, encoding, signal })) {
      signal?.throwIfAborted();
      scanner.add(chunk);
      // The scanner has a copy. To leave it to the garbage collector would take a fifth of the time of reading.
      if (isOwn && chunk.length === chunk.buffer.byteLength) transferBuffer(chunk.buffer as ArrayBuffer, 0);
      yield scanner;
    }
    scanner.end();
    yield scanner;
  }
}

/** The error for a row that does not have as many fields as the first one. */
function wrongWidth(scanner: CsvScanner, width: number): TableError {
  const count = scanner.fieldCount;
  const at = scanner.ends[Math.min(count, width) - 1] as number;
  return scanner.error(`The row must have ${width} fields, got ${count}.`, at);
}

/** Cells of the column were written as values of another type. */
function typeChanged(scanner: CsvScanner, start: number): TableError {
  const { message, location } = scanner.error(
    'The value is of another type than those of the first rows.',
    start,
  );
  return new TableError('type_changed', message, location === undefined ? {} : { location });
}

function noteRow(scanner: CsvScanner, shapes: readonly CsvColumnShape[], quote: number): void {
  const { bytes, starts, ends } = scanner;
  for (let index = 0; index < shapes.length; index += 1) {
    const shape = shapes[index] as CsvColumnShape;
    if (shape.kind === 'text' && shape.spelling === 'other') continue;
    const start = starts[index] as number;
    const end = ends[index] as number;
    if (shape.isText) {
      const isMissing = start === end && bytes[start - 1] !== quote;
      noteValue(shape, isMissing ? 'null' : 'text', false);
      continue;
    }
    const kind = csvValueKind(bytes, start, end);
    noteSpelling(shape, kind, bytes, start, end);
    noteValue(shape, kind, bytes[start] === MINUS);
  }
}

const MINUS = 45;

const quoteOf = ({ quote }: CsvOptions): number => (quote === null ? -1 : quote.charCodeAt(0));

/** Copies a field, each doubled quote as one. @returns the length */
function halveQuotes(
  bytes: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  quote: number,
): number {
  let to = 0;
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] as number;
    target[to] = byte;
    to += 1;
    if (byte === quote) at += 1;
  }
  return to;
}

/** The error for a field that is not UTF-8. */
function notUtf8(scanner: CsvScanner, index: number): TableError {
  const start = scanner.starts[index] as number;
  const end = scanner.ends[index] as number;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(scanner.bytes.subarray(start, end));
  const faulty = text.indexOf('\uFFFD');
  const before = new TextEncoder().encode(text.slice(0, Math.max(0, faulty))).length;
  return scanner.error('The line is not UTF-8 text.', start + before);
}

/** Rows as values. */
async function* toRows(
  batches: AsyncGenerator<CellRows>,
  columns: readonly string[],
): AsyncGenerator<RowBatch> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for await (const { firstRow, rowCount, invalid, bytes, ends } of batches) {
    let start = 0;
    const rows = Array.from({ length: rowCount }, (_, row) => {
      const object: JsonObject = {};
      for (const [index, name] of columns.entries()) {
        const end = ends[row * columns.length + index] as number;
        const value: JsonValue = parseJson(decoder.decode(bytes.subarray(start, end)));
        setMember(object, name, value);
        start = end;
      }
      return object;
    });
    yield { firstRow, rows, invalid };
  }
}
