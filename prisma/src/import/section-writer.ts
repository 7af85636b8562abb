import type { LineBatch } from '@svc/jsonl-v23/internal';
import type { ItemFileSource } from './encode/encode-with-files.ts';
import type { LineOptions, MappingPlan } from './encode/encoded-rows.ts';
import type { TableRows } from './encode/rows-to-lines.ts';

/** What an import reads. */
export interface ReadSource {
  /** So far. */
  readonly readBytes: number;
  /** Size of the stored files that the rows come from; absent for archives, which count their own expansion. */
  readonly fileBytes?: number;
}

/** What is known of a section before its first row. */
export interface SectionOptions {
  /** Items that it will have, as far as known; for the progress. */
  readonly itemsTotal?: number | null | undefined;
  /** Whether the source names it; else its name is only a default. Default true. */
  readonly isNamed?: boolean | undefined;
  /** The file that its rows come from, for their errors. */
  readonly file?: string | undefined;
  /** Where its rows come from: the size of its files limits the bytes of items. */
  readonly read?: ReadSource | undefined;
}

export interface WriteLinesOptions extends LineOptions {
  /** The files of the archive that items refer to; without them, such items are faulty. Not with `origins`. */
  readonly files?: ItemFileSource | undefined;
}

/** Writes the items of one section, in order. Reads batches as fast as the database takes rows, and takes them over. */
export interface SectionWriter {
  /**
   * Files are read up to the first fault; missing ones are faults, and all of them are found.
   *
   * @throws what `batches` and `files` throw, unchanged; StoreError `unavailable`, `invalid_request` for an item that
   *   is too large for the database
   */
  writeLines(batches: AsyncIterable<LineBatch>, options: WriteLinesOptions): Promise<void>;
  /** Leaves faulty rows out where the mapping skips them. @throws as {@link writeLines} */
  writeRows(batches: AsyncIterable<TableRows>, plan: MappingPlan): Promise<void>;
}
