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

export function checkColumns(columns: readonly TableColumn<never>[]): void {
  if (!Array.isArray(columns)) throw wrongArgument('columns', 'an array', columns);
  for (const [index, column] of columns.entries()) {
    const { name, type, json } = (column ?? {}) as Partial<TableColumn<never>>;
    if (typeof name !== 'string') throw wrongArgument(`columns[${index}].name`, 'a text', name);
    oneOf(`columns[${index}].type`, type, COLUMN_TYPES);
    if (typeof json !== 'function') throw wrongArgument(`columns[${index}].json`, 'a function', json);
  }
}

export function checkBatch(batch: readonly unknown[]): void {
  if (!Array.isArray(batch)) throw wrongArgument('A batch', 'an array of rows', batch);
}

export function jsonOf<Row>({ name, json }: TableColumn<Row>, row: Row): string | null {
  const text: unknown = json(row);
  if (typeof text === 'string' || text === null) return text;
  throw wrongArgument(`The result of \`json\` of column ${JSON.stringify(name)}`, 'JSON text or null', text);
}
