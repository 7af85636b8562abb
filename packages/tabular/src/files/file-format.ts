import { checkFlags, oneOf, wrongArgument } from '../check-arguments.ts';
import type { FileCompression } from '../format.ts';

/** The formats of files with a table. */
export type FileFormat = 'csv' | 'tsv' | 'jsonl' | 'json' | 'parquet' | 'text';

export const FILE_FORMATS: readonly FileFormat[] = ['csv', 'tsv', 'jsonl', 'json', 'parquet', 'text'];

/** How a text file is written, as far as its format has it. */
export interface FileOptions {
  /** CSV and TSV: one ASCII character. */
  readonly delimiter?: string;
  /** CSV and TSV: one ASCII character; null if quotes are ordinary characters. */
  readonly quote?: string | null;
  /** Text formats, as Python or the web call it. */
  readonly encoding?: string;
  /** CSV and TSV: whether the first row has the names. */
  readonly header?: boolean;
  /** JSON: the member that holds the rows. */
  readonly field?: string;
}

/** What a file is, by its content. */
export interface DetectedFile {
  readonly format: FileFormat;
  /** How the whole file is compressed; absent if it is not. */
  readonly compression?: FileCompression | undefined;
  readonly options: FileOptions;
  /** Whether it is JSON Lines whose first objects all have `inputs`, as items have. */
  readonly areItems?: boolean;
  /** What a person should know about how the file is read, one sentence each. */
  readonly warnings?: readonly string[];
}

/** What is known of a file before its content is looked at; it takes precedence. */
export interface FormatHints extends FileOptions {
  readonly format?: FileFormat;
}

export interface DetectOptions extends FormatHints {
  readonly signal?: AbortSignal | undefined;
}

/** Checks what a caller says about a file. @throws TypeError */
export function checkHints({ format, delimiter, quote, encoding, header, field }: FormatHints): void {
  if (format !== undefined) oneOf('format', format, FILE_FORMATS);
  for (const [name, value] of Object.entries({ delimiter, quote: quote ?? undefined })) {
    const isCharacter = typeof value === 'string' && /^[\x01-\x7f]$/.test(value);
    if (value !== undefined && !isCharacter) throw wrongArgument(name, 'one ASCII character', value);
  }
  for (const [name, value] of Object.entries({ encoding, field })) {
    if (value !== undefined && typeof value !== 'string') throw wrongArgument(name, 'a text', value);
  }
  checkFlags({ header });
}
