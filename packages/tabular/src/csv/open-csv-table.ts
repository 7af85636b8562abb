import { asciiText } from '@svc/jsonl-v23/bytes';
import { type JsonObject, type JsonValue, parseJson, setMember } from '@svc/jsonl-v23/json';
import { TableError, unreadableFile } from '../errors.ts';
import type { FileOptions } from '../files/file-format.ts';
import { type Features, valueFeature } from '../schema/features.ts';
import type { ByteSource } from '../source/byte-source.ts';
import { type Table, wholeRange } from '../table.ts';
import { batchRows, NULL_SIZE, type ReadRow } from '../text/batch-rows.ts';
import { CachedFile } from '../text/cached-file.ts';
import { DEFAULT_MAX_ROW_SIZE, isTextColumn, type TextColumns } from '../text/raw-row.ts';
import { CsvScanner, STRICT_RULES, statedDelimiter } from './csv-scanner.ts';
import { FieldReader, numberedNames, uniqueNames } from './field-reader.ts';
import {
  type CsvColumnShape,
  csvValueKind,
  DTYPES,
  emptyShape,
  noteSpelling,
  noteValue,
  spellingWarnings,
} from './infer-exact.ts';
import { scanContent } from './scan-content.ts';

/** How tables are read that may have rows that cannot be read, and texts that look like numbers. */
export interface RowOptions {
  /** Columns of CSV files that keep their texts, missing values too; default none. */
  readonly textColumns: TextColumns;
  /**
   * Whether the types of CSV columns come from all rows; otherwise from the first ones, and a later value that needs
   * another type ends reading with `type_changed`. Default true.
   */
  readonly wholeFile: boolean;
  /** Whether reading continues after rows of CSV and JSON Lines that cannot be read. Default false. */
  readonly skipsInvalid: boolean;
}

/** How a CSV file is written and opened. Without a header, the names are `0`, `1` and so on. */
export interface CsvTableOptions extends Required<Omit<FileOptions, 'field'>>, RowOptions {
  readonly signal: AbortSignal | undefined;
}

/** Unless `wholeFile` is set, types come from at least these bytes, and at least the rows that a preview shows. */
const FIRST_BYTES = 1024 * 1024;
const FIRST_ROWS = 100;
/** A file of this size is read whole: its rows are counted. */
const COUNTED_BYTES = 4 * 1024 * 1024;
const CACHED_BYTES = COUNTED_BYTES;
/**
 * Opens a CSV file as a table in which text stays text: a column is a number or a truth value only if every value is
 * written as its JSON text (`1.50`, `001` and `+1` are texts), and a word for a missing value, `NA`, `null`, `None` or
 * nothing, is null only in columns that are not text. Every row must have as many fields as the first one. A first line
 * that states the delimiter (`sep=;`) is no row.
 * @throws TableError `invalid_row` with file, line and column, `unsupported_file`, `damaged_file`; while rows are read
 *   `type_changed`, unless the types come from all rows; errors of the source; the signal's reason
 */
export async function openCsvTable(source: ByteSource, options: CsvTableOptions): Promise<Table> {
  const file = new CachedFile(source, { bytes: CACHED_BYTES });
  const { columns, rowCount, isWhole } = await scan(file, options);
  const { names, shapes } = columns;
  const features = (): Features =>
    names.map((name, index) => ({
      name,
      feature: valueFeature(DTYPES[(shapes[index] as CsvColumnShape).kind]),
    }));
  return {
    get features(): Features {
      return features();
    },
    rowCount: isWhole ? rowCount : undefined,
    atLeastRows: rowCount,
    warnings: spellingWarnings(names, shapes),
    read(range) {
      const { from, to, columns: wanted, signal } = wholeRange(features(), range);
      const rows = new ExactRows({ ...options, signal }, file.path, { columns, notesTypes: !isWhole });
      const { skipsInvalid } = options;
      return batchRows(rows.read(file), createRowReader(columns, wanted), { from, to, skipsInvalid });
    },
  };
}

interface ExactColumns {
  readonly names: readonly string[];
  readonly shapes: readonly CsvColumnShape[];
}

async function scan(
  file: CachedFile,
  options: CsvTableOptions,
): Promise<{ columns: ExactColumns; rowCount: number; isWhole: boolean }> {
  const { wholeFile, skipsInvalid } = options;
  const mustCount = file.compression === 'none' && file.byteLength <= COUNTED_BYTES;
  const rows = new ExactRows(options, file.path, { columns: null, notesTypes: true });
  let rowCount = 0;
  let isWhole = true;
  let end: TableError | null = null;
  try {
    for await (const _ of rows.read(file)) {
      while (rows.next() !== null) rowCount += 1;
      const isKnown = rows.columns?.shapes.every(({ kind }) => kind === 'text') ?? false;
      const isEnough = !wholeFile && rows.scanner.readBytes >= FIRST_BYTES && rowCount >= FIRST_ROWS;
      isWhole = mustCount || !(isKnown || isEnough);
      if (!isWhole) break;
    }
  } catch (error) {
    if (!(skipsInvalid && error instanceof TableError && error.code === 'invalid_row')) throw error;
    end = error;
  }
  const { columns } = rows;
  if (columns === null) {
    throw end ?? unreadableFile('unsupported_file', file.path, 'it has no rows');
  }
  for (const shape of columns.shapes) shape.wasOther = false;
  return { columns, rowCount, isWhole: isWhole && end === null };
}

/** Reads a file row by row. The object is the current row. */
class ExactRows implements Iterable<ExactRows> {
  /** Null before the first record. */
  columns: ExactColumns | null;
  unread: (() => TableError) | undefined;
  readonly scanner: CsvScanner;
  readonly fields: FieldReader;
  readonly #options: CsvTableOptions;
  readonly #file: string;
  readonly #notesTypes: boolean;
  #isHeader: boolean;
  #isFirst = true;

  /** @param known the columns, if they are, and whether rows are added to their types */
  constructor(
    options: CsvTableOptions,
    file: string,
    { columns, notesTypes }: { columns: ExactColumns | null; notesTypes: boolean },
  ) {
    const { delimiter, quote, header } = options;
    const dialect = {
      ...STRICT_RULES,
      delimiter: delimiter.charCodeAt(0),
      quote: quote === null ? -1 : quote.charCodeAt(0),
    };
    this.scanner = new CsvScanner(dialect, file, DEFAULT_MAX_ROW_SIZE);
    this.fields = new FieldReader(this.scanner);
    this.columns = columns;
    this.#options = options;
    this.#file = file;
    this.#notesTypes = notesTypes;
    this.#isHeader = header;
  }

  async *read(file: CachedFile): AsyncGenerator<Iterable<ExactRows>> {
    const { encoding, signal } = this.#options;
    for await (const _ of scanContent(file, this.scanner, { file: this.#file, encoding, signal })) {
      yield this;
    }
  }

  *[Symbol.iterator](): Generator<this> {
    while (this.next() !== null) yield this;
  }

  /** Goes to the next row; null if more must arrive. */
  next(): this | null {
    const { scanner } = this;
    while (scanner.next()) {
      if (this.#isFirst) {
        this.#isFirst = false;
        if (this.#statesDelimiter()) continue;
      }
      this.columns ??= this.#columnsOf();
      if (this.#isHeader) {
        this.#isHeader = false;
        continue;
      }
      const { names, shapes } = this.columns;
      this.unread = undefined;
      if (scanner.fieldCount === names.length) {
        if (this.#notesTypes) noteRow(scanner, shapes);
      } else {
        if (!this.#options.skipsInvalid) throw this.fields.wrongWidth(names.length);
        this.unread = () => this.fields.wrongWidth(names.length);
      }
      return this;
    }
    return null;
  }

  /** Whether the record is the line that tells Excel the delimiter, and that ends with it if the table uses it. */
  #statesDelimiter(): boolean {
    const { fieldCount } = this.scanner;
    if (fieldCount > 2) return false;
    const texts = Array.from({ length: fieldCount }, (_, index) => this.fields.text(index));
    return statedDelimiter(texts.join(this.#options.delimiter)) !== null;
  }

  #columnsOf(): ExactColumns {
    const { header, textColumns } = this.#options;
    const names = header ? uniqueNames(this.fields.names()) : numberedNames(this.scanner.fieldCount);
    return { names, shapes: names.map((name) => emptyShape(isTextColumn(textColumns, name))) };
  }
}

/** Makes the reader of the values of some columns, which throws TableError `type_changed`. */
function createRowReader(
  { names, shapes }: ExactColumns,
  wanted: readonly string[],
): (row: ExactRows) => ReadRow {
  const indexOf = new Map(names.map((name, index) => [name, index]));
  const columns = wanted.map((name) => ({ name, index: indexOf.get(name) ?? -1 }));
  return (row) => {
    let faulty = -1;
    const values: JsonObject = {};
    for (const { name, index } of columns) {
      const shape = row.unread === undefined ? shapes[index] : undefined;
      const value = shape === undefined ? null : fieldValue(row, index, shape);
      if (value === undefined && faulty === -1) faulty = index;
      setMember(values, name, value ?? null);
    }
    const unread = faulty === -1 ? row.unread : () => row.fields.notUtf8(faulty);
    return { values, size: Math.max(row.scanner.byteLength, columns.length * NULL_SIZE), unread };
  };
}

/** Every number of this length is a double that is written with the same digits. */
const MAX_DOUBLE_BYTES = 15;

/** The value of a field; undefined if it is not UTF-8. @throws TableError `type_changed` */
function fieldValue(
  { scanner, fields }: ExactRows,
  index: number,
  { kind, wasOther }: CsvColumnShape,
): JsonValue | undefined {
  const { bytes, starts, ends } = scanner;
  const start = starts[index] as number;
  const end = ends[index] as number;
  if (kind === 'text') {
    // Values before were read as values of another type.
    const message = 'The value is of another type than those of the first rows.';
    if (wasOther) throw scanner.error(message, start, undefined, 'type_changed');
    return fields.text(index) ?? undefined;
  }
  const valueKind = csvValueKind(bytes, start, end);
  if (valueKind === 'null') return null;
  const text = asciiText(bytes, start, end);
  if (valueKind === 'bool') return text === 'true';
  return text.length <= MAX_DOUBLE_BYTES ? Number(text) : parseJson(text);
}

function noteRow(scanner: CsvScanner, shapes: readonly CsvColumnShape[]): void {
  const { bytes, starts, ends, dialect } = scanner;
  for (let index = 0; index < shapes.length; index += 1) {
    const shape = shapes[index] as CsvColumnShape;
    if (shape.kind === 'text' && shape.spelling === 'other') continue;
    const start = starts[index] as number;
    const end = ends[index] as number;
    if (shape.isText) {
      const isMissing = start === end && bytes[start - 1] !== dialect.quote;
      noteValue(shape, isMissing ? 'null' : 'text', false);
      continue;
    }
    const kind = csvValueKind(bytes, start, end);
    noteSpelling(shape, kind, bytes, start, end);
    noteValue(shape, kind, bytes[start] === MINUS);
  }
}

const MINUS = 45;
