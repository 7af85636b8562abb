import type { SourceLocation } from '@svc/jsonl-v23';
import type { JsonObject, JsonValue } from '@svc/jsonl-v23/json';
import { TableError } from '../errors.ts';

/** A row as a text file holds it, before anything is known about its columns. */
export interface RawRow {
  /** JSON formats: the object as written. CSV and text: texts, null where the reader's rules say so. */
  row: JsonObject;
  /** 1-based line of the file on which it begins. */
  line: number;
  /** How much of the file it takes, in characters. */
  size: number;
  /** JSON formats: the text of the row, which tells 1.0 from 1. */
  text?: string;
}

/** Parameters of the format, by the names that pandas and the `datasets` library use, such as `sep` or `field`. */
export type LoaderParams = Readonly<Record<string, JsonValue>>;

/** What every reader of a text format takes. */
export interface ReadOptions {
  /** Path of the file, for errors. */
  file: string;
  /** Longest row, in characters or bytes; default 64 MiB. */
  maxRowSize?: number;
  signal?: AbortSignal;
}

/** Longest row unless the caller says otherwise: room for a few embedded images. */
export const DEFAULT_MAX_ROW_SIZE: number = 64 * 1024 * 1024;

/** The error for a row that cannot be read. */
export function invalidRow(message: string, location: SourceLocation, cause?: unknown): TableError {
  return new TableError('invalid_row', message, { location, cause });
}
