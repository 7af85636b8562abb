import type { UnreadRow } from '@svc/jsonl-v23/internal';
import { addUnread, TableError } from '../errors.ts';
import type { ArrivedRows } from './text-reader.ts';

/** Collects the rows of a batch. */
export interface BatchWriter<Row, Batch> {
  /** Adds a row; nulls if it cannot be read. Returns why it cannot. */
  add(row: Row): (() => TableError) | undefined;
  isFull(rowCount: number): boolean;
  /** Returns the batch of the rows so far, without one that was begun after them, and starts the next one. */
  end(firstRow: number, rowCount: number, invalid: Map<number, UnreadRow | null> | undefined): Batch;
}

/** Which rows are read. */
interface BatchRange {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  /** Whether reading continues after rows that cannot be read. */
  readonly skipsInvalid: boolean;
}

/**
 * Reads rows as batches. Those before a row that ends reading come before the error.
 *
 * @throws TableError `invalid_row`; errors of the rows
 */
export async function* batchRows<Row, Batch>(
  arrivals: AsyncIterable<ArrivedRows<Row>>,
  writer: BatchWriter<Row, Batch>,
  { from, to, skipsInvalid }: BatchRange,
): AsyncGenerator<Batch> {
  let row = 0;
  let firstRow = from;
  let invalid: Map<number, UnreadRow | null> | undefined;
  const take = (): Batch => {
    const batch = writer.end(firstRow, row - firstRow, invalid);
    firstRow = row;
    invalid = undefined;
    return batch;
  };
  if (to <= from) return;
  try {
    for await (const arrived of arrivals) {
      for (let found = arrived.next(); found !== null; found = arrived.next()) {
        if (row >= from) {
          const reasonOf = writer.add(found);
          if (reasonOf !== undefined) {
            if (!skipsInvalid) throw reasonOf();
            invalid ??= new Map();
            addUnread(invalid, row - firstRow, reasonOf);
          }
        }
        row += 1;
        if (row >= to) break;
        if (row > firstRow && writer.isFull(row - firstRow)) yield take();
      }
      if (row >= to) break;
    }
  } catch (error) {
    const isLast = error instanceof TableError && error.code === 'invalid_row';
    if (isLast && row > firstRow) yield take();
    throw error;
  }
  if (row > firstRow) yield take();
}
