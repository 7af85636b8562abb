import type { Cells, CellWriter } from '@svc/jsonl-v23/internal';

/** Size of a batch of cells: enough to be worth posting to a thread. */
const BATCH_BYTES = 256 * 1024;
const MAX_BATCH_ROWS = 10_000;

/** Whether the cells so far are a batch. */
export function isFullBatch(writer: CellWriter, rowCount: number): boolean {
  return writer.byteLength >= BATCH_BYTES || rowCount >= MAX_BATCH_ROWS;
}

/** The first cells of a writer, and no more: a row may have been begun after them. */
export function endCells(writer: CellWriter, count: number): Cells {
  const { bytes, ends } = writer.end();
  if (ends.length === count) return { bytes, ends };
  return { bytes: bytes.slice(0, count === 0 ? 0 : ends[count - 1]), ends: ends.slice(0, count) };
}
