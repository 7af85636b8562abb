import { checkFlags, checkTextColumns } from '../check-arguments.ts';
import { openCsvTable, type RowOptions } from '../csv/open-csv-table.ts';
import { unreadableFile } from '../errors.ts';
import type { Decompressors } from '../parquet/codecs/inflate-page.ts';
import { openParquetTable } from '../parquet/parquet-table.ts';
import { type Feature, valueFeature } from '../schema/features.ts';
import { type ByteSource, withCompression } from '../source/byte-source.ts';
import type { Table } from '../table.ts';
import { CachedFile } from '../text/cached-file.ts';
import { decodeText } from '../text/decode-text.ts';
import { isUtf8 } from '../text/encodings.ts';
import type { LoaderParams } from '../text/raw-row.ts';
import { openTextTables } from '../text/text-table.ts';
import type { DetectedFile } from './file-format.ts';

/** How the table of a file is opened. */
export interface FileTableOptions extends Partial<RowOptions> {
  /** Functions that decompress pages of Parquet; they precede the runtime's. */
  readonly decompressors?: Decompressors | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens a file as a table in which text stays text: values of text formats are never converted, except for the numbers and
 * missing values of CSV columns that have nothing else (see `openCsvTable`).
 *
 * @param detected what `detectFormat` has found
 * @throws TableError `unsupported_file` for a Parquet file that is compressed as a whole, `invalid_row`, `damaged_file`;
 *   errors of the source; the signal's reason; TypeError for an option that does not exist or cannot be
 */
export async function openFileTable(
  file: ByteSource,
  detected: DetectedFile,
  tableOptions: FileTableOptions = {},
): Promise<Table> {
  const { textColumns = new Set(), wholeFile = true, skipsInvalid = false } = tableOptions;
  const { decompressors, signal } = tableOptions;
  checkTextColumns(textColumns);
  checkFlags({ wholeFile, skipsInvalid });
  const { format, compression, options } = detected;
  const source = withCompression(file, compression);
  if (format === 'parquet') {
    if (compression === undefined) return await openParquetTable([file], { decompressors, signal });
    const reason = 'a Parquet file must be unpacked before its parts can be read';
    throw unreadableFile('unsupported_file', file.path, reason);
  }
  if (format === 'csv' || format === 'tsv') {
    const {
      delimiter = format === 'tsv' ? '\t' : ',',
      quote = '"',
      encoding = 'utf-8',
      header = true,
    } = options;
    const written = { delimiter, quote, encoding, header };
    return await openCsvTable(source, { ...written, textColumns, wholeFile, skipsInvalid, signal });
  }
  const tables = await openTextTables(new Map([[TABLE, [source]]]), {
    format: format === 'text' ? 'text' : 'json',
    params: paramsOf(options),
    signal,
    textColumns: 'all',
    skipsInvalid,
  });
  const table = tables.get(TABLE) as Table;
  // Texts stay as they are, even if they could be times.
  const features = table.features.map(({ name, feature }) => ({ name, feature: asText(feature) }));
  const warnings = [...(detected.warnings ?? []), ...(table.warnings ?? [])];
  return { ...table, features, warnings };
}

const TABLE = 'table';

function asText(feature: Feature): Feature {
  const isTime = feature.kind === 'value' && feature.dtype.startsWith('timestamp');
  return isTime ? valueFeature('string') : feature;
}

function paramsOf({ encoding, field }: DetectedFile['options']): LoaderParams {
  return { ...(encoding === undefined ? {} : { encoding }), ...(field === undefined ? {} : { field }) };
}

/**
 * The content of a text file in UTF-8, decompressed.
 *
 * @throws TableError `invalid_row` with the line of invalid bytes, `damaged_file`, `unsupported_file`; errors of the
 *   source; the signal's reason
 */
export async function* readTextFile(
  file: ByteSource,
  { compression, options }: DetectedFile,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): AsyncGenerator<Uint8Array> {
  const content = new CachedFile(withCompression(file, compression)).read(signal);
  const { encoding } = options;
  if (isUtf8(encoding)) {
    yield* content;
    return;
  }
  const encoder = new TextEncoder();
  for await (const text of decodeText(content, { file: file.path, encoding, signal }))
    yield encoder.encode(text);
}
