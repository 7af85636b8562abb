import { type ChunkSource, checkNumber, checkOptions, chunksOf } from '@svc/jsonl-v23/internal';
import { oneOf } from '../check-arguments.ts';
import type { DataFormat } from '../format.ts';
import { inSlices } from '../source/in-slices.ts';
import type { RawRow, ReadOptions } from './raw-row.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readText } from './read-text.ts';

const READ_OPTIONS: Readonly<Record<keyof ReadOptions, true>> = {
  file: true,
  params: true,
  maxRowSize: true,
  textColumns: true,
  skipsInvalid: true,
  signal: true,
};
const READERS = { json: readJson, csv: readCsv, text: readText } as const;

/**
 * Reads the rows of a text file of any format, from its decompressed bytes. Memory is bounded by one row and one piece of
 * the source; ending the iteration closes the source.
 *
 * @throws TypeError, RangeError for wrong arguments; TableError `invalid_row` with file and line, `unsupported_file` for
 *   parameters that are not supported; errors of the source
 */
export function readRows(
  source: ChunkSource<Uint8Array>,
  format: Exclude<DataFormat, 'parquet'>,
  options: ReadOptions = {},
): AsyncGenerator<RawRow, void, undefined> {
  checkOptions('readRows', options, READ_OPTIONS);
  oneOf('format', format, ['json', 'csv', 'text']);
  checkNumber('maxRowSize', options.maxRowSize, { min: 1 });
  const { params = {}, file = '', ...others } = options;
  // A stream is locked when its first row is read.
  const chunks = {
    [Symbol.asyncIterator]: () => inSlices({ [Symbol.asyncIterator]: () => chunksOf(source) }),
  };
  return READERS[format](chunks, params, { ...others, file });
}
