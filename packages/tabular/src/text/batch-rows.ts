import type { UnreadRow } from '@svc/jsonl-v23/imports';
import type { JsonObject } from '@svc/jsonl-v23/json';
import { addUnread, TableError } from '../errors.ts';
import type { Inference, Schema } from '../schema/infer-schema.ts';
import type { RowBatch, WholeRange } from '../table.ts';
import type { CachedFile } from './cached-file.ts';

export interface ReadRow {
  /** Nulls if it cannot be read. */
  readonly values: JsonObject;
  /** Length in the file, about; {@link NULL_SIZE} for each column that the file does not have. */
  readonly size: number;
  readonly unread: (() => TableError) | undefined;
}

/** Length of `null`. */
export const NULL_SIZE = 4;
const BATCH_SIZE = 1024 * 1024;
const MAX_BATCH_ROWS = 1000;

/** Reads rows as batches. Rows before one that ends reading come before the error. */
export async function* batchRows<Row>(
  arrivals: AsyncIterable<Iterable<Row>>,
  readRow: (row: Row) => ReadRow,
  { from, to, skipsInvalid }: Pick<WholeRange, 'from' | 'to'> & { readonly skipsInvalid: boolean },
): AsyncGenerator<RowBatch> {
  let row = 0;
  let rows: JsonObject[] = [];
  let size = 0;
  let invalid: Map<number, UnreadRow | null> | undefined;
  const take = (): RowBatch => {
    const batch = { firstRow: row - rows.length, rows, invalid };
    rows = [];
    size = 0;
    invalid = undefined;
    return batch;
  };
  if (to <= from) return;
  try {
    for await (const arrived of arrivals) {
      for (const found of arrived) {
        if (row >= from) {
          const { values, size: rowSize, unread } = readRow(found);
          if (unread !== undefined) {
            if (!skipsInvalid) throw unread();
            invalid ??= new Map();
            addUnread(invalid, rows.length, unread);
          }
          rows.push(values);
          size += rowSize;
        }
        row += 1;
        if (row >= to) break;
        if (size >= BATCH_SIZE || rows.length >= MAX_BATCH_ROWS) yield take();
      }
      if (row >= to) break;
    }
  } catch (error) {
    const isLast = error instanceof TableError && error.code === 'invalid_row';
    if (isLast && rows.length > 0) yield take();
    throw error;
  }
  if (rows.length > 0) yield take();
}

export interface FoundRow {
  readonly size: number;
  readonly unread?: (() => TableError) | undefined;
}

export interface TextReader<Row extends FoundRow> {
  readonly inference: Inference<Row>;
  /** The rows of a file, as they arrive. Each is valid until the one after it. */
  rowsOf(file: CachedFile, signal: AbortSignal | undefined): AsyncGenerator<Iterable<Row>>;
  rowReader(schema: Schema, columns: readonly string[]): (row: Row) => ReadRow;
}
