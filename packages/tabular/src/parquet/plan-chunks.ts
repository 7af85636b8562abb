import { fetchRanges, type RangeLimits } from '../source/byte-ranges.ts';
import type { ByteInterval } from '../source/byte-source.ts';
import { parsePageLocations } from './metadata/file-metadata.ts';
import type { ParquetChunk, ParquetFooter } from './metadata/footer.ts';
import type { ParquetFile } from './open-parquet.ts';
import { ParquetError } from './parquet-error.ts';

/** Row groups are fetched together up to this size; larger ones page by page. */
const BATCH_BYTES = 16 * 1024 * 1024;
/** From a disk, row groups are read together only up to this size. */
const NEAR_BATCH_BYTES = 1024 * 1024;
/** Limits of fetching; reading over a gap costs less than another request, some 10 ms of transfer. */
export const RANGE_LIMITS: RangeLimits = { maxGapBytes: 256 * 1024, maxRangeBytes: BATCH_BYTES };
/** A group of this size is fetched whole, even for some of its rows. */
const SMALL_GROUP_BYTES = 1024 * 1024;
/** Size to which writers fill a page before compression. */
const EXPECTED_PAGE_BYTES = 1024 * 1024;
/** Blocks of all columns of a large row group, two of each. */
const READ_AHEAD_BYTES = 64 * 1024 * 1024;
const MIN_BLOCK_BYTES = 256 * 1024;
const MAX_BLOCK_BYTES = 8 * 1024 * 1024;

/** Rows of one row group. `from` and `to` (exclusive) count from the group's first row. */
export interface GroupSpan {
  readonly group: number;
  readonly from: number;
  readonly to: number;
}

/** How the rows of one row group are read. */
export interface GroupPlan extends GroupSpan {
  readonly chunks: readonly ChunkPlan[];
}

/** How one leaf of a group is read. */
export interface ChunkPlan {
  readonly leaf: number;
  /** The dictionary, if the page index tells it from the pages. */
  readonly dictionary: ByteInterval | null;
  /** The bytes with the requested rows. */
  readonly pages: ByteInterval;
  /** Whether all of `pages` is needed, and not only the beginning. */
  readonly isExact: boolean;
  /** First row of `pages` in the group. */
  readonly firstRow: number;
  /** Bytes at the end of `pages` that may belong to another chunk. */
  readonly slackBytes: number;
  /** Bytes that are fetched at first, together with the other leaves'. */
  readonly firstBytes: number;
}

/** The parts of the row groups that hold the rows `from` to `to` of the file. */
export function spansOf(footer: ParquetFooter, rows: { from: number; to: number }): GroupSpan[] {
  return footer.groups
    .map(({ firstRow, rowCount }, group) => ({
      group,
      from: Math.max(rows.from - firstRow, 0),
      to: Math.min(rows.to - firstRow, rowCount),
    }))
    .filter(({ from, to }) => from < to);
}

/** Joins consecutive groups that are fetched together. */
export function joinSpans(
  spans: readonly GroupSpan[],
  { footer, bytes: { isNear = false } }: ParquetFile,
  leaves: readonly number[],
): GroupSpan[][] {
  const batches: GroupSpan[][] = [];
  const maxBytes = isNear ? NEAR_BATCH_BYTES : BATCH_BYTES;
  let bytes = 0;
  for (const span of spans) {
    const size = groupBytes(footer, span.group, leaves);
    const batch = batches.at(-1);
    if (batch === undefined || bytes + size > maxBytes) {
      batches.push([span]);
      bytes = size;
    } else {
      batch.push(span);
      bytes += size;
    }
  }
  return batches;
}

/** Bytes of one fetch for each of some leaves of a large row group. */
export function blockSize(leafCount: number): number {
  return Math.min(Math.max(Math.floor(READ_AHEAD_BYTES / 2 / leafCount), MIN_BLOCK_BYTES), MAX_BLOCK_BYTES);
}

/**
 * Plans the reads of some row groups. Page indexes are fetched where only some rows of a group are needed.
 *
 * @throws errors of the source
 */
export async function planGroups(
  file: ParquetFile,
  spans: readonly GroupSpan[],
  leaves: readonly number[],
  signal: AbortSignal,
): Promise<GroupPlan[]> {
  const { footer } = file;
  const planned = spans.map((span) => {
    const { rowCount, chunks } = groupOf(footer, span.group);
    const bytes = groupBytes(footer, span.group, leaves);
    const isPartial = span.to - span.from < rowCount && bytes > SMALL_GROUP_BYTES;
    const blockBytes = bytes > BATCH_BYTES ? blockSize(leaves.length) : Number.POSITIVE_INFINITY;
    const columns = leaves.flatMap((leaf) => {
      const chunk = chunks[leaf];
      return chunk === undefined ? [] : [{ leaf, chunk, index: isPartial ? chunk.offsetIndex : null }];
    });
    return { span, rowCount, isPartial, blockBytes, columns };
  });
  const indexes = planned.flatMap(({ columns }) => columns.flatMap(({ index }) => index ?? []));
  const ranges = fetchRanges(file.bytes, indexes, RANGE_LIMITS, signal);

  const plans: GroupPlan[] = [];
  for (const { span, columns, ...group } of planned) {
    const chunks: ChunkPlan[] = [];
    for (const { leaf, chunk, index } of columns) {
      const pages = index === null ? null : parseOffsetIndex(await ranges.get(index), chunk, group.rowCount);
      chunks.push({
        leaf,
        ...(planPages(span, pages, chunk, group.blockBytes) ?? planChunk(span, chunk, group)),
      });
    }
    plans.push({ ...span, chunks });
  }
  return plans;
}

/** Plans to read the pages that the page index names; null without a page index. */
function planPages(
  span: GroupSpan,
  locations: readonly PageLocation[] | null,
  chunk: ParquetChunk,
  blockBytes: number,
): Omit<ChunkPlan, 'leaf'> | null {
  const begin = locations?.[0];
  const first = locations?.findLast((page) => page.firstRow <= span.from);
  const last = locations?.findLast((page) => page.firstRow < span.to);
  if (begin === undefined || first === undefined || last === undefined) return null;
  // The page index lists data pages; before the first of them is the dictionary.
  const dictionary = begin.start > chunk.start ? { start: chunk.start, end: begin.start } : null;
  const pages = { start: first.start, end: last.end };
  const firstBytes = Math.min(pages.end - pages.start, blockBytes);
  return { dictionary, pages, isExact: true, firstRow: first.firstRow, slackBytes: 0, firstBytes };
}

/** Plans to read a chunk from its beginning. */
function planChunk(
  span: GroupSpan,
  chunk: ParquetChunk,
  { rowCount, isPartial, blockBytes }: { rowCount: number; isPartial: boolean; blockBytes: number },
): Omit<ChunkPlan, 'leaf'> {
  const size = chunk.end - chunk.start;
  let firstBytes = Math.min(size, blockBytes);
  if (isPartial) {
    const ratio = chunk.uncompressedBytes === 0 ? 1 : size / chunk.uncompressedBytes;
    const page = Math.ceil(EXPECTED_PAGE_BYTES * ratio * 1.1) + 4096;
    const share = Math.ceil((size - chunk.dictionaryBytes) * (span.to / rowCount) * 1.1);
    firstBytes = Math.min(firstBytes, chunk.dictionaryBytes + Math.max(page, share));
  }
  const pages = { start: chunk.start, end: chunk.end };
  const { slackBytes } = chunk;
  return { dictionary: null, pages, isExact: !isPartial, firstRow: 0, slackBytes, firstBytes };
}

function groupBytes(footer: ParquetFooter, group: number, leaves: readonly number[]): number {
  const { chunks } = groupOf(footer, group);
  return leaves.reduce((sum, leaf) => sum + (chunks[leaf]?.end ?? 0) - (chunks[leaf]?.start ?? 0), 0);
}

function groupOf(footer: ParquetFooter, index: number): ParquetFooter['groups'][number] {
  const group = footer.groups[index];
  if (group === undefined) throw new RangeError(`The file has no row group ${index}.`);
  return group;
}

/** A page of a leaf, by the page index. */
interface PageLocation extends ByteInterval {
  /** Counts from the beginning of the row group. */
  readonly firstRow: number;
}

/** Parses the page index of one chunk (Parquet format, "Page Index"); null if it does not fit the chunk. */
function parseOffsetIndex(bytes: Uint8Array, chunk: ByteInterval, rowCount: number): PageLocation[] | null {
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
