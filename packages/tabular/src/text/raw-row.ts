import type { SourceLocation } from '@svc/jsonl-v23';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { TableError } from '../errors.ts';

/** A row of a JSON or text file, before its columns have types. */
export interface RawRow {
  /** JSON formats: the object as written. Text: the member `text`. */
  readonly row: JsonObject;
  /** 1-based line on which it begins. */
  readonly line: number;
  /** Length in the file, in characters. */
  readonly size: number;
  /** JSON formats: the text of the row, which tells 1.0 from 1. */
  readonly text?: string;
  /** JSON formats: how many `NaN` and infinities the row is written with, which became null. */
  readonly nonNumbers?: number;
  /** Why the row cannot be read, with the option `skipsInvalid`; `row` is empty then. */
  readonly unread?: () => TableError;
}

/** Parameters of the format, by the names that pandas and the `datasets` library use, such as `sep` or `field`. */
export type LoaderParams = Readonly<Record<string, JsonValue>>;

/** Columns that keep their texts; `all` of any name. */
export type TextColumns = ReadonlySet<string> | 'all';

/** How the files of a format are read. */
export interface FormatOptions {
  /** Parameters of the format; default none. */
  readonly params?: LoaderParams | undefined;
  /** Columns of CSV files that keep their texts: missing values in them are texts too. */
  readonly textColumns?: TextColumns | undefined;
  /** Whether reading continues after lines of JSON Lines, and rows of CSV with too many fields, that cannot be read. */
  readonly skipsInvalid?: boolean | undefined;
}

export interface TextOptions extends FormatOptions {
  /** Path of the file, for errors; of CSV files, its suffix `.tsv` says that tabs separate the fields. */
  readonly file: string;
  /** Longest row, in characters or bytes; default 64 MiB. */
  readonly maxRowSize?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Longest row by default: enough for a few embedded images. */
export const DEFAULT_MAX_ROW_SIZE: number = 64 * 1024 * 1024;

export function invalidRow(message: string, location: SourceLocation, cause?: unknown): TableError {
  return new TableError('invalid_row', message, { location, cause });
}

export function isTextColumn(columns: TextColumns | undefined, name: string): boolean {
  return columns === 'all' || (columns?.has(name) ?? false);
}
