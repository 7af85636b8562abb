import { checkFlags, oneOf, wrongArgument } from '../check-arguments.ts';

export type FileCompression = 'gzip' | 'zstd';

const COMPRESSIONS: ReadonlyMap<string, FileCompression | 'other'> = new Map([
  ['gz', 'gzip'],
  ['zst', 'zstd'],
  ['bz2', 'other'],
  ['xz', 'other'],
  ['lz4', 'other'],
  ['zip', 'other'],
]);

/** How a file is compressed by the last suffix of its name, undefined if it is not; `other` is not supported. */
export function compressionOf(path: string): FileCompression | 'other' | undefined {
  return COMPRESSIONS.get(suffixes(path).at(-1) ?? '');
}

/** Whether the first of the suffixes `csv` and `tsv` in the name is `tsv`. */
export function isTabSeparated(path: string): boolean {
  return suffixes(path).find((suffix) => suffix === 'csv' || suffix === 'tsv') === 'tsv';
}

function suffixes(path: string): string[] {
  return baseName(path).split('.').slice(1);
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The formats of files with a table. */
export type FileFormat = 'csv' | 'tsv' | 'jsonl' | 'json' | 'parquet' | 'text';

const FORMATS: Readonly<
  Record<FileFormat, { readonly title: string; readonly suffixes: readonly string[] }>
> = {
  csv: { title: 'CSV', suffixes: ['csv'] },
  tsv: { title: 'TSV', suffixes: ['tsv'] },
  jsonl: { title: 'JSON Lines', suffixes: ['jsonl', 'ndjson', 'jsonlines'] },
  json: { title: 'JSON', suffixes: ['json'] },
  parquet: { title: 'Parquet', suffixes: ['parquet', 'pq'] },
  text: { title: 'plain text', suffixes: ['txt'] },
};

export const FILE_FORMATS: readonly FileFormat[] = Object.keys(FORMATS) as FileFormat[];

export const titleOf = (format: FileFormat): string => FORMATS[format].title;

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

const BY_SUFFIX: ReadonlyMap<string, FileFormat> = new Map(
  FILE_FORMATS.flatMap((format) => FORMATS[format].suffixes.map((suffix) => [suffix, format] as const)),
);
const COMPRESSION_SUFFIXES: ReadonlySet<string> = new Set(['gz', 'gzip', 'zst', 'zstd']);

/** The last suffix of a name in lower case, except suffixes of compression; empty if there is none. */
export function lastSuffix(path: string): string {
  return suffixes(path.toLowerCase()).findLast((suffix) => !COMPRESSION_SUFFIXES.has(suffix)) ?? '';
}

/** The format that the name of a file says, whether it is compressed or not; undefined if it says none. */
export const formatByName = (path: string): FileFormat | undefined => BY_SUFFIX.get(lastSuffix(path));

export function withoutFormat(path: string): string {
  const without = (name: string, known: { has(suffix: string): boolean }): string =>
    name.replace(/\.([a-z]+)$/i, (all, suffix: string) => (known.has(suffix.toLowerCase()) ? '' : all));
  return without(without(path, COMPRESSION_SUFFIXES), BY_SUFFIX);
}
