import type { JsonValue } from '@svc/jsonl-v23/json';
import { shorten, TableError } from '../errors.ts';
import { type Feature, someFeature } from '../schema/features.ts';
import { type CellConverter, compileCell } from './cells/cell.ts';
import { VariantLimit } from './cells/variant-value.ts';
import { StringColumn } from './encodings/string-column.ts';
import { toTableError } from './parquet-error.ts';
import type { ColumnBatch } from './read-parquet.ts';

const NONE: readonly JsonValue[] = [];

/** The columns of a file that hold VARIANTs. They are decoded row by row, because only then their size is known. */
export class VariantColumns {
  readonly #file: string;
  readonly #columns: Array<{ name: string; convert: CellConverter }>;
  readonly #limit: VariantLimit = new VariantLimit();

  /** @param names columns that are read, with their types in `features` */
  constructor(names: readonly string[], features: ReadonlyMap<string, Feature>, file: string) {
    this.#file = file;
    this.#columns = names.flatMap((name) => {
      const feature = features.get(name);
      if (feature === undefined || !someFeature(feature, ({ kind }) => kind === 'variant')) return [];
      return [{ name, convert: compileCell(feature, this.#limit) }];
    });
  }

  /** The position of a column in what `decode` returns; -1 if it is not one of these. */
  indexOf(name: string): number {
    return this.#columns.findIndex((column) => column.name === name);
  }

  /** Decodes the cells of a row. @throws TableError `damaged_file`, `unsupported_file`, `invalid_row` with the row */
  decode(batch: ColumnBatch, row: number): readonly JsonValue[] {
    if (this.#columns.length === 0) return NONE;
    this.#limit.reset();
    return this.#columns.map(({ name, convert }) => {
      const cells = batch.columns.get(name);
      if (cells === undefined || cells instanceof StringColumn) return null;
      try {
        return convert(cells[row]);
      } catch (error) {
        const fileRow = batch.firstRow + row;
        const { code, message, cause } = toTableError(
          error,
          this.#file,
          () => `column ${shorten(name)}, row ${fileRow}: `,
        );
        throw new TableError(code, message, { location: { file: this.#file, row: fileRow }, cause });
      }
    });
  }
}
