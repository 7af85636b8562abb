import type { CellRows } from '@svc/jsonl-v23/internal';
import type { Schema } from '../schema/infer-schema.ts';
import { type RowRange, type Table, toRows, wholeRange } from '../table.ts';
import { batchRows } from '../text/batch-rows.ts';
import type { CachedFile } from '../text/cached-file.ts';
import type { ArrivedRows, FormatOptions, TextReader } from '../text/text-reader.ts';
import { PandasInference } from './infer-pandas.ts';
import { PandasCells } from './pandas-cells.ts';
import { PandasRows } from './pandas-rows.ts';
import { readPandasSettings } from './pandas-settings.ts';

/**
 * Reads CSV files as the `datasets` library does.
 *
 * The parameters of a dataset card that are supported are `sep`, `delimiter`, `names`, `column_names`, `header`, `skiprows`,
 * `nrows`, `usecols`, `quotechar`, `quoting`, `doublequote`, `escapechar`, `comment`, `skipinitialspace`,
 * `skip_blank_lines`, `na_values`, `keep_default_na`, `na_filter`, `encoding`, `encoding_errors`, `on_bad_lines`; others that
 * would change what is read are refused with `unsupported_file`.
 */
export class PandasReader implements TextReader<PandasRows> {
  readonly inference: PandasInference = new PandasInference();
  readonly #options: FormatOptions;

  constructor(options: FormatOptions) {
    this.#options = options;
  }

  async *rowsOf(file: CachedFile, signal: AbortSignal | undefined): AsyncGenerator<ArrivedRows<PandasRows>> {
    const { params = {}, textColumns, skipsInvalid } = this.#options;
    const options = { file: file.path, signal, textColumns, skipsInvalid };
    const rows = new PandasRows(readPandasSettings(params, file.path), options);
    yield* rows.read(file);
    this.inference.addHeader(rows.emptyColumns());
  }

  readersOf(
    schema: Schema,
    rows: (signal: AbortSignal | undefined) => AsyncIterable<ArrivedRows<PandasRows>>,
  ): Pick<Table, 'read' | 'readCells'> {
    const skipsInvalid = this.#options.skipsInvalid ?? false;
    const readCells = (range: RowRange = {}): AsyncGenerator<CellRows> => {
      const { from, to, columns, signal } = wholeRange(schema.features, range);
      const writer = new PandasCells(columns, schema.converts);
      return batchRows(rows(signal), writer, { from, to, skipsInvalid });
    };
    return {
      readCells,
      read: (range) => toRows(readCells(range), wholeRange(schema.features, range).columns),
    };
  }
}
