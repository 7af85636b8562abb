import type { CellBatch, LineBatch } from '@svc/jsonl-v23/internal';
import type { ReadFile } from '../copy/encode-with-files.ts';
import type { LineOptions, MappingPlan } from '../copy/encoded-rows.ts';

export interface WriteLinesOptions extends LineOptions {
  /** Reads a file that an item refers to; lines without such items need none. */
  readonly readFile?: ReadFile | undefined;
}

/**
 * Writes the items of one section, in order. Reads batches as fast as the database takes rows, and takes them over. Faulty
 * lines and rows become faults of the draft, which checks what follows and stores nothing any more.
 */
export interface SectionWriter {
  /**
   * Files are read up to the first fault.
   *
   * @throws what `batches` and `readFile` throw, unchanged; StoreError `unavailable`, `invalid_request` for an item that
   *   is too large for the database
   */
  writeLines(batches: AsyncIterable<LineBatch>, options: WriteLinesOptions): Promise<void>;
  /** Faulty rows are left out where the mapping skips them. @throws as {@link writeLines} */
  writeCells(batches: AsyncIterable<CellBatch>, plan: MappingPlan): Promise<void>;
}
