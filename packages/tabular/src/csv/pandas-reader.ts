import { type JsonObject, setMember } from '@svc/jsonl-v23/json';
import { asIs } from '../schema/cast.ts';
import type { Schema } from '../schema/infer-schema.ts';
import {
  type ArrivedRows,
  type FormatOptions,
  NULL_SIZE,
  type ReadRow,
  type TextReader,
} from '../text/batch-rows.ts';
import type { CachedFile } from '../text/cached-file.ts';
import { PandasInference } from './infer-pandas.ts';
import { PandasRows } from './pandas-rows.ts';
import { readPandasSettings } from './pandas-settings.ts';

/**
 * Reads CSV files as the `datasets` library does.
 *
 * It supports the parameters `sep`, `delimiter`, `names`, `column_names`, `header`, `skiprows`, `nrows`, `usecols`,
 * `quotechar`, `quoting`, `doublequote`, `escapechar`, `comment`, `skipinitialspace`, `skip_blank_lines`, `na_values`,
 * `keep_default_na`, `na_filter`, `encoding`, `encoding_errors`, `on_bad_lines` of a dataset card, and refuses others
 * that would change what is read with `unsupported_file`.
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

  rowReader({ converts }: Schema, columns: readonly string[]): (row: PandasRows) => ReadRow {
    /** The columns of the file, and the positions of the ones that are read: -1 if the file lacks it. */
    let known: PandasRows['columns'] | null = null;
    let positions: readonly number[] = [];
    return (row) => {
      if (row.columns !== known) {
        known = row.columns;
        positions = columns.map((name) => row.columns.get(name) ?? -1);
      }
      let faulty = -1;
      const values: JsonObject = {};
      for (const [index, name] of columns.entries()) {
        const column = positions[index] as number;
        const isMissing = row.unread !== undefined || column === -1 || row.isNull(column);
        const text = isMissing ? null : row.text(column);
        if (!isMissing && text === null && faulty === -1) faulty = column;
        setMember(values, name, text === null ? null : (converts.get(name) ?? asIs)(text));
      }
      const size = Math.max(row.size, columns.length * NULL_SIZE);
      return { values, size, unread: faulty === -1 ? row.unread : () => row.notUtf8(faulty) };
    };
  }
}
