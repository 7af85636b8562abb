import { checkColumnCount, type TableError } from '../errors.ts';
import type { CachedFile } from '../text/cached-file.ts';
import { DEFAULT_MAX_ROW_SIZE, isTextColumn, type TextOptions } from '../text/raw-row.ts';
import { CsvScanner, VERBATIM } from './csv-scanner.ts';
import { FieldReader, numberedNames, uniqueNames } from './field-reader.ts';
import type { PandasSettings } from './pandas-settings.ts';
import { scanContent } from './scan-content.ts';

/**
 * Reads a CSV or TSV file row by row, as pandas and the `datasets` library do: UTF-8, no guessing of the separator,
 * null words, repeated names become `x.1`, empty ones `Unnamed: 0`, short rows are filled with nulls. Extra fields of the
 * first data row come before the named columns, as `__index_level_0__`. The object is the current row.
 */
export class PandasRows implements Iterable<PandasRows> {
  /** The columns that are kept, by name: their position in a row. Empty before the first row, the same map for all rows. */
  columns: ReadonlyMap<string, number> = new Map();
  unread: (() => TableError) | undefined;
  readonly scanner: CsvScanner;
  readonly #settings: PandasSettings;
  readonly #options: TextOptions;
  readonly #reader: FieldReader;
  readonly #nulls: ReadonlySet<string>;
  readonly #nullStarts: Uint8Array = new Uint8Array(256);
  readonly #nullEnds: Uint8Array = new Uint8Array(256);
  readonly #maxNullBytes: number;
  /** Records so far, without the ones that `skiprows` leaves out. */
  #seen = 0;
  #rows = 0;
  #isEnded = false;
  #header: readonly string[] | null = null;
  #width = 0;
  #fields: readonly number[] = [];
  #keepsText: readonly boolean[] = [];

  constructor(settings: PandasSettings, options: TextOptions) {
    this.#settings = settings;
    this.#options = options;
    this.scanner = new CsvScanner(settings.dialect, options.file, options.maxRowSize ?? DEFAULT_MAX_ROW_SIZE);
    this.#reader = new FieldReader(this.scanner);
    this.#nulls = settings.nulls;
    const words = [...this.#nulls].map((word) => new TextEncoder().encode(word));
    for (const word of words) {
      const last = word.at(-1);
      if (last === undefined) continue;
      this.#nullStarts[word[0] as number] = 1;
      this.#nullEnds[last] = 1;
    }
    this.#maxNullBytes = Math.max(0, ...words.map(({ length }) => length));
  }

  get size(): number {
    return this.scanner.byteLength;
  }

  /** Reads the rows of a file, as they arrive. @throws TableError `invalid_row` with file, line and column */
  async *read(file: CachedFile): AsyncGenerator<Iterable<PandasRows>> {
    const { encoding, replaceErrors } = this.#settings;
    const { file: path, signal } = this.#options;
    for await (const _ of scanContent(file, this.scanner, { file: path, encoding, replaceErrors, signal })) {
      yield this;
      if (this.#isEnded) return;
    }
  }

  emptyColumns(): Iterable<string> {
    if (this.#width === 0 && this.#header !== null) this.#start(this.#header.length);
    return this.columns.keys();
  }

  isNull(column: number): boolean {
    const index = this.#fields[column] as number;
    const { bytes, starts, ends, fieldCount, escaped } = this.scanner;
    if (index >= fieldCount) return true;
    if (this.#keepsText[column] === true) return false;
    const start = starts[index] as number;
    const end = ends[index] as number;
    if (start === end) return this.#nulls.has('');
    const isVerbatim = escaped[index] === VERBATIM;
    const canBeNull =
      (this.#nullStarts[bytes[start] as number] as number) &
      (this.#nullEnds[bytes[end - 1] as number] as number);
    if (isVerbatim && canBeNull === 0) return false;
    // Every character may be escaped, between quotes.
    if (end - start > (isVerbatim ? this.#maxNullBytes : 2 * this.#maxNullBytes + 2)) return false;
    const text = this.#reader.text(index);
    return text !== null && this.#nulls.has(text);
  }

  field(column: number): number {
    return this.#fields[column] as number;
  }

  /** The text of a value; null if it is not UTF-8. */
  text(column: number): string | null {
    return this.#reader.text(this.#fields[column] as number);
  }

  notUtf8(column: number): TableError {
    return this.#reader.notUtf8(this.#fields[column] as number);
  }

  *[Symbol.iterator](): Generator<this> {
    while (this.next() !== null) yield this;
  }

  /** Goes to the next row; null if more must arrive. @throws TableError `invalid_row`, unless it belongs to the row */
  next(): this | null {
    const { scanner } = this;
    const { headerRow, names, skipsLine, skipLongRows, maxRows } = this.#settings;
    while (scanner.next()) {
      if (skipsLine(scanner.line)) continue;
      const position = this.#seen;
      this.#seen += 1;
      if (headerRow !== null && position <= headerRow) {
        if (position === headerRow) this.#header = names ?? uniqueNames(this.#reader.names());
        continue;
      }
      if (this.#width === 0) this.#start(scanner.fieldCount);
      this.unread = undefined;
      if (scanner.fieldCount > this.#width) {
        if (skipLongRows) continue;
        if (this.#options.skipsInvalid !== true) throw this.#reader.wrongWidth(this.#width);
        this.unread = () => this.#reader.wrongWidth(this.#width);
      }
      this.#isEnded = this.#rows >= maxRows;
      if (this.#isEnded) break;
      this.#rows += 1;
      return this;
    }
    return null;
  }

  #start(width: number): void {
    const { names, columns: selected } = this.#settings;
    const named = this.#header ?? names ?? numberedNames(width);
    const extra = Math.max(0, width - named.length);
    checkColumnCount(extra + named.length);
    const all = [...Array.from({ length: extra }, (_, index) => `__index_level_${index}__`), ...named];
    this.#width = all.length;
    const fieldOf = new Map<string, number>();
    for (const column of all.keys()) {
      // The index comes after the columns, as in a table of pandas.
      const index = (column + extra) % all.length;
      const name = all[index] as string;
      const isKept = index < extra || selected === null || selected.has(name) || selected.has(index - extra);
      if (isKept) fieldOf.set(name, index);
    }
    const kept = [...fieldOf.keys()];
    this.columns = new Map(kept.map((name, column) => [name, column]));
    this.#fields = [...fieldOf.values()];
    this.#keepsText = kept.map((name) => isTextColumn(this.#options.textColumns, name));
  }
}
