/** The formats that are read. `json` is JSON Lines, arrays and single objects. */
export type DataFormat = 'parquet' | 'json' | 'csv' | 'text';
/** How a whole file is compressed. */
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

/** The suffixes of a file's name, first to last, without their dots. */
export function suffixes(path: string): string[] {
  return baseName(path).split('.').slice(1);
}

/** The name of a file without its folders. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
