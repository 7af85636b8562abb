import type { JsonValue } from '@svc/jsonl-v23/json';
import { shorten, TableError } from '../errors.ts';
import { isTabSeparated } from '../files/file-format.ts';
import { encodingOf } from '../text/encodings.ts';
import type { LoaderParams } from '../text/raw-row.ts';
import type { CsvDialect } from './csv-scanner.ts';

// Missing values of pandas, quoted or not.
const NULL_WORDS =
  '|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null'.split(
    '|',
  );

/** How a CSV file is to be read: the parameters of pandas' `read_csv` that a dataset card may set. */
export interface PandasSettings {
  readonly dialect: CsvDialect;
  readonly encoding: string | undefined;
  readonly replaceErrors: boolean;
  readonly headerRow: number | null;
  readonly names: string[] | null;
  readonly skipsLine: (line: number) => boolean;
  readonly maxRows: number;
  readonly nulls: Set<string>;
  /** Names or positions of the columns to keep; null keeps all. */
  readonly columns: Set<string | number> | null;
  readonly skipLongRows: boolean;
}

/** Reads the parameters of a dataset card. @throws TableError `unsupported_file` for ones that are not supported */
export function readPandasSettings(params: LoaderParams, file: string): PandasSettings {
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
  const { sep = isTabSeparated(file) ? '\t' : ',' } = params;
  const separator = params['delimiter'] ?? sep;
  if (separator === null) throw unsupported('sep', separator);
  return {
    dialect: {
      delimiter: byteOf('sep', separator),
      quote: quoting === 3 ? -1 : byteOf('quotechar', params['quotechar'] ?? '"'),
      escape: byteOf('escapechar', params['escapechar']),
      comment: byteOf('comment', params['comment']),
      doublesQuotes: params['doublequote'] !== false,
      skipsInitialSpace: params['skipinitialspace'] === true,
      skipsBlankLines: params['skip_blank_lines'] !== false,
      isLenient: true,
    },
    ...encodingOf(params),
    headerRow: header === 'infer' ? 0 : header,
    names,
    skipsLine: skippedLines(params['skiprows'] ?? null),
    maxRows: isCount(params['nrows']) ? params['nrows'] : Number.POSITIVE_INFINITY,
    nulls: new Set(nullWords),
    columns: keptColumns(params['usecols'] ?? null),
    skipLongRows: params['on_bad_lines'] === 'skip' || params['on_bad_lines'] === 'warn',
  };
}

/** A character of the dialect; -1 if there is none. */
function byteOf(key: string, value: JsonValue | undefined): number {
  if (value === null || value === undefined) return -1;
  if (typeof value !== 'string' || !/^[^\r\n\u0080-\uffff]$/.test(value)) throw unsupported(key, value);
  return value.charCodeAt(0);
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

/** Lines to leave out: a number of first lines, or the listed lines, counted from 0. */
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
