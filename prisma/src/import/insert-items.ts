import { type Pool, prepared } from '@svc/postgres';
import type pg from 'pg';
import { COPY_HEADER, COPY_TRAILER, copiedRows, type RowFields } from '../database/copy-format.ts';

/** The columns of a row of `items` in the order of a COPY, with their types and how a statement takes their values. */
const COLUMNS: readonly (readonly [
  name: string,
  type: string,
  read: (row: RowFields, column: number) => unknown,
])[] = [
  ['part_id', 'uuid', (row, column) => row.view(column).toString('hex')],
  ['ordinal', 'int4', (row, column) => row.int32(column)],
  ['byte_length', 'int4', (row, column) => row.int32(column)],
  ['item_hash', 'bytea', (row, column) => row.view(column)],
  ['type', 'text', (row, column) => row.text(column)],
  ['payload', 'json', (row, column) => row.text(column)],
  ['answer', 'json', (row, column) => row.text(column)],
  ['checker', 'json', (row, column) => row.text(column)],
  ['assets', 'json', (row, column) => row.text(column)],
  ['linked_files', 'json', (row, column) => row.text(column)],
  ['linked_bytes', 'int8', (row, column) => (row.isNull(column) ? null : row.int64(column))],
  ['item_id', 'text', (row, column) => row.text(column)],
];

const NAMES = COLUMNS.map(([name]) => name).join(', ');
const ARRAYS = COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ');
const INSERT_ITEMS = `INSERT INTO items (${NAMES}) SELECT ${NAMES} FROM unnest(${ARRAYS}) AS item (${NAMES})`;

/** Inserts a few rows by one statement. @param rows as for a COPY @returns how many the server counted */
export async function insertItems(
  client: pg.ClientBase,
  pool: Pool,
  rows: readonly Buffer[],
): Promise<number> {
  const columns: unknown[][] = COLUMNS.map(() => []);
  for (const row of copiedRows([COPY_HEADER, ...rows, COPY_TRAILER])) {
    for (const [column, [, , read]] of COLUMNS.entries()) columns[column]?.push(read(row, column));
  }
  const { rowCount } = await client.query(prepared(pool, 'insert_items', INSERT_ITEMS, columns));
  return rowCount ?? 0;
}
