import { type JsonValue, setMember } from '@svc/jsonl-v23/json';
import { shorten, TableError } from '../errors.ts';
import { isTabSeparated } from '../format.ts';
import type { CsvRecord } from './csv-records.ts';
import { type CsvDialect, CsvTokenizer } from './csv-tokenizer.ts';
import { decodeText } from './decode-text.ts';
import {
  DEFAULT_MAX_ROW_SIZE,
  invalidRow,
  isTextColumn,
  type LoaderParams,
  type RawRow,
  type TextColumns,
  type TextOptions,
} from './raw-row.ts';

// Missing values of pandas, quoted or not.
const NULL_WORDS =
  '|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null'.split(
    '|',
  );

/** How a CSV file is to be read: the parameters of pandas' `read_csv` that a dataset card may set. */
interface CsvSettings {
  readonly dialect: CsvDialect;
  readonly encoding: string | undefined;
  readonly replaceErrors: boolean;
  /** Which row holds the names; null: none does. */
  readonly headerRow: number | null;
  readonly names: string[] | null;
  readonly skipsLine: (line: number) => boolean;
  readonly maxRows: number;
  readonly nulls: Set<string>;
  /** Names or positions of the columns to keep; null keeps all. */
  readonly columns: Set<string | number> | null;
  readonly skipLongRows: boolean;
}

/**
 * Reads a CSV or TSV file row by row, as pandas and the `datasets` library do: UTF-8, no guessing of the separator,
 * null words, repeated names become `x.1`, empty ones `Unnamed: 0`, short rows are filled with nulls. Values stay texts;
 * `inferSchema` finds their types. Extra fields of the first data row come before the named columns, as
 * `__index_level_0__`.
 *
 * @param params the card's parameters for the file: `sep`, `delimiter`, `names`, `column_names`, `header`, `skiprows`,
 *   `nrows`, `usecols`, `quotechar`, `quoting`, `doublequote`, `escapechar`, `comment`, `skipinitialspace`,
 *   `skip_blank_lines`, `na_values`, `keep_default_na`, `na_filter`, `encoding`, `encoding_errors`, `on_bad_lines`
 * @throws TableError `invalid_row` with file and line: a row with too many fields, an open quote, invalid bytes;
 *   `unsupported_file` for parameters that are not supported
 */
export async function* readCsv(
  source: AsyncIterable<Uint8Array>,
  params: LoaderParams,
  options: TextOptions,
): AsyncGenerator<RawRow, void, undefined> {
  const settings = readSettings(params, options.file);
  const { file, signal, maxRowSize = DEFAULT_MAX_ROW_SIZE } = options;
  const { encoding, replaceErrors } = settings;
  const tokenizer = new CsvTokenizer(settings.dialect, file, maxRowSize);
  const table = new CsvTable(settings, options);
  let rows = 0;
  const text = decodeText(source, { file, encoding, replaceErrors, signal });
  for await (const piece of text) {
    for (const record of tokenizer.add(piece)) {
      const row = table.add(record);
      if (row === null) continue;
      if (rows >= settings.maxRows) return;
      rows += 1;
      yield row;
    }
  }
  for (const record of tokenizer.end()) {
    const row = table.add(record);
    if (row !== null && rows < settings.maxRows) yield row;
  }
}

/**
 * Reads the header of a CSV or TSV file that has no rows.
 *
 * @returns a row with null in each column; empty without a header
 * @throws as `readCsv`
 */
export async function readCsvHeader(
  source: AsyncIterable<Uint8Array>,
  params: LoaderParams,
  options: TextOptions,
): Promise<RawRow['row']> {
  const settings = readSettings(params, options.file);
  const { file, signal, maxRowSize = DEFAULT_MAX_ROW_SIZE } = options;
  const { encoding, replaceErrors } = settings;
  const tokenizer = new CsvTokenizer(settings.dialect, file, maxRowSize);
  const table = new CsvTable(settings, options);
  for await (const piece of decodeText(source, { file, encoding, replaceErrors, signal })) {
    for (const record of tokenizer.add(piece)) table.add(record);
  }
  for (const record of tokenizer.end()) table.add(record);
  return table.emptyRow();
}

/** Every row has all columns, so a short one may become a long one. */
const MAX_COLUMNS = 50_000;

/** Gives records their column names. */
class CsvTable {
  readonly #settings: CsvSettings;
  readonly #file: string;
  readonly #textColumns: TextColumns | undefined;
  readonly #skipsInvalid: boolean;
  /** Rows seen so far that no `skiprows` takes away. */
  #seen = 0;
  #header: string[] | null = null;
  /** Names of all fields, in the order of the file; set by the first data row. */
  #columns: string[] | null = null;
  /** Positions of the fields that are kept. */
  #kept: number[] = [];

  constructor(settings: CsvSettings, { file, textColumns, skipsInvalid = false }: TextOptions) {
    this.#settings = settings;
    this.#file = file;
    this.#textColumns = textColumns;
    this.#skipsInvalid = skipsInvalid;
  }

  /** The row that a record makes, or null where it makes none. @throws TableError `invalid_row`, unless it is in the row */
  add(record: CsvRecord): RawRow | null {
    const { headerRow, names, skipsLine, skipLongRows } = this.#settings;
    if (skipsLine(record.line)) return null;
    const position = this.#seen;
    this.#seen += 1;
    if (headerRow !== null && position <= headerRow) {
      if (position === headerRow) this.#header = names ?? uniqueNames(record.fields);
      return null;
    }
    const columns = this.#columns ?? this.#start(record.fields.length);
    if (record.fields.length > columns.length) {
      if (skipLongRows) return null;
      const error = invalidRow(`The row must have ${columns.length} fields, got ${record.fields.length}.`, {
        file: this.#file,
        line: record.line,
      });
      if (!this.#skipsInvalid) throw error;
      return { row: {}, line: record.line, size: record.size, error };
    }
    const row: RawRow['row'] = {};
    for (const index of this.#kept) {
      const field = record.fields[index];
      const name = columns[index] as string;
      const isMissing =
        field === undefined || (this.#settings.nulls.has(field) && !isTextColumn(this.#textColumns, name));
      setMember(row, name, isMissing ? null : field);
    }
    return { row, line: record.line, size: record.size };
  }

  /** A row with null in each column of the header; empty without one. */
  emptyRow(): RawRow['row'] {
    const columns = this.#header === null ? [] : (this.#columns ?? this.#start(this.#header.length));
    const row: RawRow['row'] = {};
    for (const index of this.#kept) setMember(row, columns[index] as string, null);
    return row;
  }

  #start(width: number): readonly string[] {
    const { names } = this.#settings;
    const named = this.#header ?? names ?? Array.from({ length: width }, (_, index) => String(index));
    const extra = Math.max(0, width - named.length);
    if (width > MAX_COLUMNS || named.length > MAX_COLUMNS) {
      throw new TableError(
        'unsupported_file',
        `Cannot read the file: it has more than ${MAX_COLUMNS} columns.`,
        {
          location: { file: this.#file },
        },
      );
    }
    const columns = [...Array.from({ length: extra }, (_, index) => `__index_level_${index}__`), ...named];
    const selected = this.#settings.columns;
    this.#columns = columns;
    // The index comes after the columns, as in a table of pandas.
    this.#kept = columns
      .map((_, index) => (index + extra) % columns.length)
      .filter(
        (index) =>
          index < extra ||
          selected === null ||
          selected.has(columns[index] as string) ||
          selected.has(index - extra),
      );
    return columns;
  }
}

/** Column names as pandas makes them: empty ones are numbered, repeated ones get `.1`, `.2` and so on. */
export function uniqueNames(header: readonly string[]): string[] {
  const names = header.map((name, index) => (name === '' ? `Unnamed: ${index}` : name));
  const taken = new Set(names);
  const counts = new Map<string, number>();
  // Names from the file take precedence over generated ones.
  const order = [...names.keys()].sort(
    (a, b) => Number(header[a] === '') - Number(header[b] === '') || a - b,
  );
  for (const index of order) {
    const original = names[index] as string;
    let name = original;
    let count = counts.get(name) ?? 0;
    while (count > 0) {
      counts.set(original, count + 1);
      name = `${original}.${count}`;
      count = taken.has(name) ? count + 1 : (counts.get(name) ?? 0);
    }
    names[index] = name;
    taken.add(name);
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return names;
}

function readSettings(params: LoaderParams, file: string): CsvSettings {
  const names = textList(params, 'column_names') ?? textList(params, 'names');
  const header = params['header'] ?? (names === null && !('header' in params) ? 'infer' : null);
  if (header !== null && header !== 'infer' && !isCount(header)) throw unsupported('header', header);
  const quoting = params['quoting'] ?? 0;
  const defaults = params['keep_default_na'] !== false;
  const nullWords =
    params['na_filter'] === false ? [] : [...(defaults ? NULL_WORDS : []), ...nullValues(params)];
  for (const key of ['skipfooter', 'lineterminator', 'dialect', 'thousands', 'true_values', 'false_values']) {
    if (params[key] !== undefined && params[key] !== null && params[key] !== 0)
      throw unsupported(key, params[key]);
  }
  if (params['decimal'] !== undefined && params['decimal'] !== '.')
    throw unsupported('decimal', params['decimal']);
  return {
    dialect: {
      separator: separator(params, file),
      quote: quoting === 3 ? null : (character(params, 'quotechar') ?? '"'),
      doubledQuotes: params['doublequote'] !== false,
      escape: character(params, 'escapechar'),
      comment: character(params, 'comment'),
      skipInitialSpace: params['skipinitialspace'] === true,
      skipBlankLines: params['skip_blank_lines'] !== false,
    },
    encoding: typeof params['encoding'] === 'string' ? params['encoding'] : undefined,
    replaceErrors: 'encoding_errors' in params && params['encoding_errors'] !== 'strict',
    headerRow: header === 'infer' ? 0 : header,
    names,
    skipsLine: skippedLines(params['skiprows'] ?? null),
    maxRows: isCount(params['nrows']) ? params['nrows'] : Number.POSITIVE_INFINITY,
    nulls: new Set(nullWords),
    columns: keptColumns(params['usecols'] ?? null),
    skipLongRows: params['on_bad_lines'] === 'skip' || params['on_bad_lines'] === 'warn',
  };
}

function separator(params: LoaderParams, file: string): string {
  const given = params['delimiter'] ?? params['sep'];
  if (given === undefined) return isTabSeparated(file) ? '\t' : ',';
  if (typeof given !== 'string' || given.length !== 1) throw unsupported('sep', given);
  return given;
}

function character(params: LoaderParams, key: string): string | null {
  const value = params[key] ?? null;
  if (value === null) return null;
  if (typeof value !== 'string' || value.length !== 1) throw unsupported(key, value);
  return value;
}

function textList(params: LoaderParams, key: string): string[] | null {
  const value = params[key] ?? null;
  if (value === null) return null;
  if (!Array.isArray(value) || new Set(value).size !== value.length) throw unsupported(key, value);
  return value.map(String);
}

function nullValues(params: LoaderParams): string[] {
  const value = params['na_values'] ?? null;
  if (value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  if (list.some((item) => typeof item === 'object')) throw unsupported('na_values', value);
  return list.map(String);
}

/** Lines to leave out: so many first ones, or those of the listed numbers, counted from 0. */
function skippedLines(value: JsonValue): (line: number) => boolean {
  if (value === null) return () => false;
  if (isCount(value)) return (line) => line <= value;
  if (!Array.isArray(value) || !value.every(isCount)) throw unsupported('skiprows', value);
  const lines = new Set(value);
  return (line) => lines.has(line - 1);
}

function keptColumns(value: JsonValue): Set<string | number> | null {
  if (value === null) return null;
  const plain = (item: JsonValue): item is string | number => typeof item === 'string' || isCount(item);
  if (!Array.isArray(value) || !value.every(plain)) throw unsupported('usecols', value);
  return new Set(value);
}

function isCount(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function unsupported(key: string, value: JsonValue | undefined): TableError {
  const text = shorten(JSON.stringify(value) ?? 'nothing');
  return new TableError('unsupported_file', `CSV files with ${key} ${text} are not supported.`);
}
