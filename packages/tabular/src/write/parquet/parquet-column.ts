import type { ColumnType, TableColumn } from '../table-column.ts';

/** A file in a cell. */
export interface ParquetImage {
  readonly bytes: Uint8Array;
  /** Its name; null without one. */
  readonly path: string | null;
}

/** A column of images, each a structure `{bytes, path}`: one in a cell, or a list of them. */
export interface ImageColumn<Row> {
  readonly name: string;
  readonly type: 'image' | 'images';
  /** The images of a row: of a column of type `image` the first one counts; null for none. */
  readonly images: (row: Row) => readonly ParquetImage[] | null;
}

/** A column of lists of texts. */
export interface TextsColumn<Row> {
  readonly name: string;
  readonly type: 'strings';
  /** The texts of a row; null for no list. */
  readonly texts: (row: Row) => readonly string[] | null;
}

/** A column of a Parquet file. */
export type ParquetColumn<Row> = TableColumn<Row> | ImageColumn<Row> | TextsColumn<Row>;

export type NamedColumn = { readonly name: string; readonly type: ParquetColumn<never>['type'] };

export interface Leaf {
  readonly type: ColumnType | 'bytes';
  /** Names from the root on. */
  readonly path: readonly string[];
  /** Definition level of a present value. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

export function leavesOf({ name, type }: NamedColumn): readonly Leaf[] {
  if (type === 'strings') {
    return [{ type: 'string', path: [name, 'list', 'element'], maxDefinition: 3, maxRepetition: 1 }];
  }
  if (type !== 'image' && type !== 'images') {
    return [{ type, path: [name], maxDefinition: 1, maxRepetition: 0 }];
  }
  const isList = type === 'images';
  const parent = isList ? [name, 'list', 'element'] : [name];
  const levels = { maxDefinition: isList ? 4 : 2, maxRepetition: isList ? 1 : 0 };
  return [
    { type: 'bytes', path: [...parent, 'bytes'], ...levels },
    { type: 'string', path: [...parent, 'path'], ...levels },
  ];
}
