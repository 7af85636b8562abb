import type { ByteInterval } from '../../source/byte-source.ts';
import { ParquetError } from '../parquet-error.ts';
import { parsePageLocations } from './file-metadata.ts';

/** A page of a leaf, by the page index. */
export interface PageLocation extends ByteInterval {
  /** Counts from the beginning of the row group. */
  readonly firstRow: number;
}

/** Parses the page index of one chunk (Parquet format, "Page Index"); null if it does not fit the chunk. */
export function parseOffsetIndex(
  bytes: Uint8Array,
  chunk: ByteInterval,
  rowCount: number,
): PageLocation[] | null {
  let pages: PageLocation[];
  try {
    pages = parsePageLocations(bytes).map((page) => ({
      start: page.offset,
      end: page.offset + page.compressed_page_size,
      firstRow: page.first_row_index,
    }));
  } catch (error) {
    if (error instanceof ParquetError) return null;
    throw error;
  }
  const isOrdered = pages.every((page, index) => {
    const before = pages[index - 1];
    if (!(Number.isSafeInteger(page.end) && page.end > page.start)) return false;
    return before === undefined
      ? page.firstRow === 0 && page.start >= chunk.start
      : page.start >= before.end && page.firstRow > before.firstRow;
  });
  const last = pages.at(-1);
  return last !== undefined && isOrdered && last.end <= chunk.end && last.firstRow < rowCount ? pages : null;
}
