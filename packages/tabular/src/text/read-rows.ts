import type { DataFormat } from '../format.ts';
import type { RawRow, ReadOptions } from './raw-row.ts';
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import { readText } from './read-text.ts';

/**
 * Reads the rows of a text file of any format, from its decompressed bytes. Memory is bounded by one row and one piece of
 * the source; ending the iteration closes the source.
 *
 * @throws TableError `invalid_row` with file and line, `unsupported_file` for parameters that are not supported; errors
 *   of the source
 */
export function readRows(
  source: AsyncIterable<Uint8Array>,
  format: Exclude<DataFormat, 'parquet'>,
  { params = {}, file = '', ...others }: ReadOptions = {},
): AsyncGenerator<RawRow, void, undefined> {
  const options = { ...others, file };
  switch (format) {
    case 'json':
      return readJson(source, params, options);
    case 'csv':
      return readCsv(source, params, options);
    case 'text':
      return readText(source, params, options);
  }
}
