import { type Pool, prepared } from '@svc/postgres';
import type pg from 'pg';
import { COPY_HEADER, COPY_TRAILER, copiedRows } from '../../sql/copy-format.ts';

/** Rows up to this size are held. */
const MAX_BYTES = 64 * 1024;

/** The columns of an item's row in their order, and the object identifiers of their types, which never change. */
const COLUMNS = [
  ['section_id', 'uuid', 2950],
  ['order_index', 'int4', 23],
  ['item_hash', 'bytea', 17],
  ['type', 'text', 25],
  ['payload', 'json', 114],
  ['answer', 'json', 114],
  ['checker', 'json', 114],
  ['assets', 'json', 114],
  ['linked_files', 'json', 114],
  ['linked_bytes', 'int8', 20],
] as const;

const NAMES = COLUMNS.map(([name]) => name).join(', ');

/** SQL that inserts rows of `items`, one array for each column. @param first number of the first parameter */
export function insertItems(first: number): string {
  const arrays = COLUMNS.map(([, type], index) => `$${first + index}::${type}[]`).join(', ');
  return `INSERT INTO items (${NAMES}) SELECT ${NAMES} FROM unnest(${arrays}) AS item (${NAMES})`;
}

const INSERT_ITEMS = insertItems(1);

/** The first rows of an import, in the binary format of COPY. */
export class HeldRows {
  #chunks: Buffer[] = [];
  #byteLength = 0;

  get isEmpty(): boolean {
    return this.#byteLength === 0;
  }

  /** Copies rows, if there is room for them. @returns whether there was */
  add(rows: Uint8Array): boolean {
    if (this.#byteLength + rows.byteLength > MAX_BYTES) return false;
    this.#byteLength += rows.byteLength;
    this.#chunks.push(Buffer.from(rows));
    return true;
  }

  clear(): void {
    this.#chunks = [];
    this.#byteLength = 0;
  }

  /** The rows as they are, for a COPY. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    yield* this.#chunks;
  }

  /** Inserts the rows by one statement, which is sent at once; none if there are no rows. @returns how many the server counted */
  async insert(client: pg.ClientBase, pool: Pool): Promise<number> {
    if (this.isEmpty) return 0;
    const { rowCount } = await client.query(prepared(pool, 'insert_items', INSERT_ITEMS, this.columns()));
    return rowCount ?? 0;
  }

  /** The rows, of which there is at least one, as the parameters of {@link insertItems}. */
  columns(): readonly Buffer[] {
    const rows = Array.from(copiedRows([COPY_HEADER, ...this.#chunks, COPY_TRAILER]), (fields) =>
      COLUMNS.map((_, column) => (fields.isNull(column) ? null : fields.view(column))),
    );
    return COLUMNS.map(([, , oid], column) => arrayOf(rows, column, oid));
  }
}

/** Dimensions, whether there are nulls, type; length and first index of the one dimension. */
const ARRAY_HEAD_BYTES = 5 * 4;

/**
 * One column of rows as an array in PostgreSQL's binary format, whose elements are as in a row: the length, -1 for null, and
 * the bytes.
 */
function arrayOf(rows: readonly (readonly (Buffer | null)[])[], column: number, oid: number): Buffer {
  let byteLength = ARRAY_HEAD_BYTES;
  for (const row of rows) byteLength += 4 + (row[column]?.byteLength ?? 0);
  const array = Buffer.allocUnsafe(byteLength);
  array.writeInt32BE(1, 0);
  array.writeInt32BE(1, 4);
  array.writeInt32BE(oid, 8);
  array.writeInt32BE(rows.length, 12);
  array.writeInt32BE(1, 16);
  let at = ARRAY_HEAD_BYTES;
  for (const row of rows) {
    const field = row[column] ?? null;
    array.writeInt32BE(field === null ? -1 : field.byteLength, at);
    at += 4;
    if (field !== null) at += field.copy(array, at);
  }
  return array;
}
