import type { JsonObject } from '@svc/jsonl-v23/json';
import { wrongArgument } from '../check-arguments.ts';
import { TableError } from '../errors.ts';
import type { Decompressors } from '../parquet/codecs/inflate-page.ts';
import { type ByteInput, type ByteSourceOptions, openByteSource } from '../source/open-byte-source.ts';
import { detectFormat } from './detect-format.ts';
import { checkHints, type FormatHints } from './file-format.ts';
import { openFileTable } from './open-file-table.ts';

export interface ReadTableOptions extends ByteSourceOptions, FormatHints {
  /** Names of the columns to read; default all. Of Parquet files, only these are fetched. */
  readonly columns?: readonly string[];
  /** Functions that decompress pages of Parquet to a given size; they precede the runtime's. */
  readonly decompressors?: Decompressors | undefined;
}

/**
 * Reads the rows of a file of any format that the package knows, which its content tells. A row has a member for each
 * column.
 *
 * @throws TypeError, RangeError for wrong arguments; TableError `invalid_row` with its line, `damaged_file`, `unsupported_file`, `column_not_found` before the first
 *   row; as `openByteSource`; the signal's reason
 *
 * @example
 * for await (const row of readTable(await openAsBlob('scores.parquet'))) console.log(row);
 */
export async function* readTable(
  input: ByteInput,
  options: ReadTableOptions = {},
): AsyncGenerator<JsonObject, void, undefined> {
  const { decompressors, signal } = options;
  checkHints(options);
  const isList = Array.isArray(options.columns) && options.columns.every((name) => typeof name === 'string');
  if (options.columns !== undefined && !isList)
    throw wrongArgument('columns', 'an array of names', options.columns);
  const source = await openByteSource(input, options);
  const table = await openFileTable(source, await detectFormat(source, options), { decompressors, signal });
  const names = table.features.map(({ name }) => name);
  const { columns = names } = options;
  const known = new Set(names);
  const missing = columns.find((name) => !known.has(name));
  if (missing !== undefined) {
    const message = `Cannot read column ${JSON.stringify(missing)}: the file has ${names.slice(0, 50).join(', ')}.`;
    throw new TableError('column_not_found', message, { location: { file: source.path } });
  }
  for await (const { rows } of table.read({ columns, signal })) {
    for (const row of rows) {
      signal?.throwIfAborted();
      yield row;
    }
  }
}
