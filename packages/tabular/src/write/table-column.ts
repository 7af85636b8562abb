import { oneOf, wrongArgument } from '../check-arguments.ts';

/** How a column of a written table is stored if the format has types. */
export type ColumnType = 'string' | 'json' | 'int64' | 'double' | 'bool';

/** A column of a table to write. */
export interface TableColumn<Row> {
  readonly name: string;
  readonly type: ColumnType;
  /** The value of a row as JSON text, with every digit; null for none. */
  readonly json: (row: Row) => string | null;
}

const COLUMN_TYPES: readonly ColumnType[] = ['string', 'json', 'int64', 'double', 'bool'];

/** Checks the columns of a table to write. @throws TypeError */
export function checkColumns(columns: readonly TableColumn<never>[]): void {
  if (!Array.isArray(columns)) throw wrongArgument('columns', 'an array', columns);
  for (const [index, column] of columns.entries()) {
    const { name, type, json } = (column ?? {}) as Partial<TableColumn<never>>;
    if (typeof name !== 'string') throw wrongArgument(`columns[${index}].name`, 'a text', name);
    oneOf(`columns[${index}].type`, type, COLUMN_TYPES);
    if (typeof json !== 'function') throw wrongArgument(`columns[${index}].json`, 'a function', json);
  }
}

/** Checks that a batch is a list of rows. @throws TypeError */
export function checkBatch(batch: readonly unknown[]): void {
  if (!Array.isArray(batch)) throw wrongArgument('A batch', 'an array of rows', batch);
}

/** The JSON text of a cell. @throws TypeError for another value */
export function jsonOf<Row>({ name, json }: TableColumn<Row>, row: Row): string | null {
  const text: unknown = json(row);
  if (typeof text === 'string' || text === null) return text;
  throw wrongArgument(`The result of \`json\` of column ${JSON.stringify(name)}`, 'JSON text or null', text);
}

/**
 * The text of a cell: the value of a string, the JSON text of everything else; null for a null.
 *
 * @example cellText('"a\\n"') // 'a\n'
 * @example cellText('[1.50]') // '[1.50]'
 */
export function cellText(json: string | null): string | null {
  if (json === null || json === 'null') return null;
  if (!json.startsWith('"')) return json;
  return json.includes('\\') ? (JSON.parse(json) as string) : json.slice(1, -1);
}

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

/** Name and type of a column, as a footer has them. */
export type NamedColumn = { readonly name: string; readonly type: ParquetColumn<never>['type'] };

/** A column of values in the file. */
export interface Leaf {
  readonly type: ColumnType | 'bytes';
  /** Names from the root on. */
  readonly path: readonly string[];
  /** Definition level of a present value. */
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

/** The leaves of a column, in the order of the file. */
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
