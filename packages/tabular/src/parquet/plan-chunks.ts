import { FetchedRanges, MAX_RANGE_BYTES } from '../source/byte-ranges.ts';
import type { ByteInterval } from '../source/byte-source.ts';
import { type PageLocationMetadata, parsePageLocations } from './metadata/file-metadata.ts';
import type { ParquetChunk, ParquetFile, ParquetRowGroup } from './open-parquet.ts';
import { ParquetError } from './parquet-error.ts';

/** Row groups are fetched together up to this size; larger ones page by page. */
const BATCH_BYTES = MAX_RANGE_BYTES;
/** From a disk, row groups are read together only up to this size. */
const NEAR_BATCH_BYTES = 1024 * 1024;
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

export interface GroupPlan extends GroupSpan {
  readonly chunks: readonly ChunkPlan[];
}

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

export function spansOf({ groups }: ParquetFile, rows: { from: number; to: number }): GroupSpan[] {
  return groups
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
  file: ParquetFile,
  leaves: readonly number[],
): GroupSpan[][] {
  const batches: GroupSpan[][] = [];
  const maxBytes = file.bytes.isNear === true ? NEAR_BATCH_BYTES : BATCH_BYTES;
  let bytes = 0;
  for (const span of spans) {
    const size = groupBytes(file, span.group, leaves);
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

export function blockSize(leafCount: number): number {
  return Math.min(Math.max(Math.floor(READ_AHEAD_BYTES / 2 / leafCount), MIN_BLOCK_BYTES), MAX_BLOCK_BYTES);
}

/** Plans the reads of some row groups. Page indexes are fetched where only some rows of a group are needed. */
export async function planGroups(
  file: ParquetFile,
  spans: readonly GroupSpan[],
  leaves: readonly number[],
  signal: AbortSignal,
): Promise<GroupPlan[]> {
  const planned = spans.map((span) => {
    const { rowCount, chunks } = groupOf(file, span.group);
    const bytes = groupBytes(file, span.group, leaves);
    const isPartial = span.to - span.from < rowCount && bytes > SMALL_GROUP_BYTES;
    const blockBytes = bytes > BATCH_BYTES ? blockSize(leaves.length) : Number.POSITIVE_INFINITY;
    const columns = leaves.flatMap((leaf) => {
      const chunk = chunks[leaf];
      return chunk === undefined ? [] : [{ leaf, chunk, index: isPartial ? chunk.offsetIndex : null }];
    });
    return { span, rowCount, isPartial, blockBytes, columns };
  });
  const indexes = planned.flatMap(({ columns }) => columns.flatMap(({ index }) => index ?? []));
  const ranges = new FetchedRanges(file.bytes, indexes, signal);

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
  locations: readonly PageLocationMetadata[] | null,
  chunk: ParquetChunk,
  blockBytes: number,
): Omit<ChunkPlan, 'leaf'> | null {
  const begin = locations?.[0];
  const first = locations?.findLast((page) => page.first_row_index <= span.from);
  const last = locations?.findLast((page) => page.first_row_index < span.to);
  if (begin === undefined || first === undefined || last === undefined) return null;
  // The page index lists data pages; before the first of them is the dictionary.
  const dictionary = begin.offset > chunk.start ? { start: chunk.start, end: begin.offset } : null;
  const pages = { start: first.offset, end: endOf(last) };
  const firstBytes = Math.min(pages.end - pages.start, blockBytes);
  return { dictionary, pages, isExact: true, firstRow: first.first_row_index, slackBytes: 0, firstBytes };
}

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

function groupBytes(file: ParquetFile, group: number, leaves: readonly number[]): number {
  const { chunks } = groupOf(file, group);
  return leaves.reduce((sum, leaf) => sum + (chunks[leaf]?.end ?? 0) - (chunks[leaf]?.start ?? 0), 0);
}

export function groupOf({ groups }: ParquetFile, index: number): ParquetRowGroup {
  const group = groups[index];
  if (group === undefined) throw new RangeError(`The file has no row group ${index}.`);
  return group;
}

/** Parses the page index of one chunk (Parquet format, "Page Index"); null if it does not fit the chunk. */
function parseOffsetIndex(
  bytes: Uint8Array,
  chunk: ByteInterval,
  rowCount: number,
): PageLocationMetadata[] | null {
  let pages: PageLocationMetadata[];
  try {
    pages = parsePageLocations(bytes);
  } catch (error) {
    if (error instanceof ParquetError) return null;
    throw error;
  }
  const isOrdered = pages.every((page, index) => {
    const before = pages[index - 1];
    if (!(Number.isSafeInteger(endOf(page)) && endOf(page) > page.offset)) return false;
    return before === undefined
      ? page.first_row_index === 0 && page.offset >= chunk.start
      : page.offset >= endOf(before) && page.first_row_index > before.first_row_index;
  });
  const last = pages.at(-1);
  const fits = last !== undefined && endOf(last) <= chunk.end && last.first_row_index < rowCount;
  return fits && isOrdered ? pages : null;
}

const endOf = (page: PageLocationMetadata): number => page.offset + page.compressed_page_size;
