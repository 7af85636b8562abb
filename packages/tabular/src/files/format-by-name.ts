import { suffixes } from '../format.ts';
import type { FileFormat } from './file-format.ts';

const FORMATS: ReadonlyMap<string, FileFormat> = new Map([
  ['csv', 'csv'],
  ['tsv', 'tsv'],
  ['txt', 'text'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['jsonlines', 'jsonl'],
  ['parquet', 'parquet'],
  ['pq', 'parquet'],
]);
const COMPRESSIONS: ReadonlySet<string> = new Set(['gz', 'gzip', 'zst', 'zstd']);

/** The last suffix of a name in lower case, except suffixes of compression; empty if there is none. */
export function lastSuffix(path: string): string {
  return suffixes(path.toLowerCase()).findLast((suffix) => !COMPRESSIONS.has(suffix)) ?? '';
}

/** The format that the name of a file says, whether it is compressed or not; undefined if it says none. */
export const formatByName = (path: string): FileFormat | undefined => FORMATS.get(lastSuffix(path));

/** A name without the suffixes of its compression and its format. */
export function withoutFormat(path: string): string {
  const without = (name: string, known: { has(suffix: string): boolean }): string =>
    name.replace(/\.([a-z]+)$/i, (all, suffix: string) => (known.has(suffix.toLowerCase()) ? '' : all));
  return without(without(path, COMPRESSIONS), FORMATS);
}
