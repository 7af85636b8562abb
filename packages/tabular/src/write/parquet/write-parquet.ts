import { setImmediate as nextTurn } from 'node:timers/promises';
import { joinBytes, type OwnBytes } from '@svc/jsonl-v23/bytes';
import { checkBatch, checkColumns, jsonOf, type TableColumn } from '../table-column.ts';
import { ChunkWriter, requireZstd } from './chunk-writer.ts';
import { type ColumnChunk, encodeFooter, type RowGroup } from './metadata.ts';
import type { PageBuffer } from './page-buffer.ts';
import {
  type ImageColumn,
  leavesOf,
  type NamedColumn,
  type ParquetColumn,
  type ParquetImage,
} from './parquet-column.ts';

/** A row group ends with the row that brings it to one of these: its compressed pages are in memory. */
const GROUP_BYTES = 32 * 1024 * 1024;
const GROUP_ROWS = 64 * 1024;
/** Rows that are encoded before the event loop runs, and cells of this many bytes. */
const TURN_ROWS = 256;
const TURN_BYTES = 256 * 1024;

const CREATED_BY = 'svc-tabular version 1.0.0';

/** What the bytes of a file depend on apart from its rows: part of an entity tag. */
export function parquetWriterVersion(): string {
  return `${CREATED_BY}, zstd ${process.versions['zstd'] ?? ''}`;
}

/**
 * Writes a table as Parquet: zstd-compressed pages with checksums, row groups of at most 64 Ki rows or some 32 MiB, texts
 * as UTF-8 strings, JSON with its logical type. The same rows give the same bytes. Memory is bounded by the compressed
 * pages of one row group, one page of each column, and one row; compression runs off the main thread, and the event loop
 * runs between some hundred rows. Needs Node 22.15 or newer.
 *
 * @throws TypeError for wrong arguments, batches and cells; Error on an older Node; errors of the batches
 *
 * @see https://parquet.apache.org/docs/file-format/
 *
 * @example writeParquet(batches, [{ name: 'score', type: 'double', json: (row) => row.score }])
 */
export async function* writeParquet<Row>(
  batches: AsyncIterable<readonly Row[]>,
  columns: readonly TableColumn<Row>[],
): AsyncGenerator<Uint8Array> {
  checkColumns(columns);
  requireZstd();
  const groups: RowGroup[] = [];
  const writers = columns.flatMap(leavesOf).map((leaf) => new ChunkWriter(leaf));
  let offset = PARQUET_MAGIC.byteLength;
  let groupRows = 0;
  let turnRows = 0;
  let turnBytes = 0;
  yield Buffer.from(PARQUET_MAGIC);

  const endGroup = async function* (): AsyncGenerator<Uint8Array> {
    const { chunks, pages, end } = await endChunks(writers, offset);
    yield* pages;
    groups.push({ rowCount: groupRows, chunks });
    offset = end;
    groupRows = 0;
  };

  for await (const batch of batches) {
    checkBatch(batch);
    for (const row of batch) {
      let groupBytes = 0;
      for (const [index, column] of columns.entries()) {
        const writer = writers[index] as ChunkWriter;
        const before = writer.uncompressedBytes;
        const writing = writer.append(jsonOf(column, row));
        if (writing !== undefined) await writing;
        turnBytes += writer.uncompressedBytes - before;
        groupBytes += writer.uncompressedBytes;
      }
      groupRows += 1;
      turnRows += 1;
      if (groupRows >= GROUP_ROWS || groupBytes >= GROUP_BYTES) yield* endGroup();
      if (turnRows < TURN_ROWS && turnBytes < TURN_BYTES) continue;
      turnRows = 0;
      turnBytes = 0;
      await nextTurn();
    }
  }
  if (groupRows > 0) yield* endGroup();
  yield encodeFooter(columns, groups, CREATED_BY);
}

/** The first bytes of a file, before its row groups. */
export const PARQUET_MAGIC: Uint8Array = Buffer.from('PAR1');

/** A row group that was encoded by itself. */
export interface EncodedRowGroup {
  readonly bytes: OwnBytes;
  /** Its chunks, whose offsets count from the first of these bytes. */
  readonly group: RowGroup;
}

/**
 * Encodes rows as one row group of a file: `PARQUET_MAGIC`, row groups one after the other, then
 * {@link parquetFooter}. The same rows give the same bytes. Needs Node 22.15 or newer.
 *
 * @throws TypeError for wrong cells; Error on an older Node
 */
export async function encodeRowGroup<Row>(
  rows: Iterable<Row>,
  columns: readonly ParquetColumn<Row>[],
): Promise<EncodedRowGroup> {
  const writers = columns.map((column) => leavesOf(column).map((leaf) => new ChunkWriter(leaf)));
  let rowCount = 0;
  for (const row of rows) {
    rowCount += 1;
    for (const [index, column] of columns.entries()) {
      const leaves = writers[index] as readonly ChunkWriter[];
      if ('images' in column) await appendImages(leaves, column, column.images(row));
      else if ('texts' in column) await appendTexts(leaves, column.texts(row));
      else {
        const writing = leaves[0]?.append(jsonOf(column, row));
        if (writing !== undefined) await writing;
      }
    }
  }
  const { chunks, pages } = await endChunks(writers.flat(), 0);
  return { bytes: joinBytes(pages), group: { rowCount, chunks } };
}

async function endChunks(
  writers: readonly ChunkWriter[],
  offset: number,
): Promise<{ chunks: ColumnChunk[]; pages: Uint8Array[]; end: number }> {
  const chunks: ColumnChunk[] = [];
  const pages: Uint8Array[] = [];
  let end = offset;
  for (const writer of writers) {
    const ended = await writer.end(end);
    chunks.push(ended.chunk);
    pages.push(...ended.pages);
    end += ended.chunk.compressedBytes;
  }
  return { chunks, pages, end };
}

/**
 * The end of a file whose row groups were encoded by {@link encodeRowGroup}.
 *
 * @param groups in the order of the file
 * @param keyValues metadata of the writer's own
 */
export function parquetFooter(
  columns: readonly NamedColumn[],
  groups: readonly RowGroup[],
  keyValues: Readonly<Record<string, string>> = {},
): Uint8Array {
  let start = PARQUET_MAGIC.byteLength;
  const placed = groups.map(({ rowCount, chunks }) => {
    const moved = chunks.map((chunk) => ({ ...chunk, offset: chunk.offset + start }));
    start += chunks.reduce((sum, { compressedBytes }) => sum + compressedBytes, 0);
    return { rowCount, chunks: moved };
  });
  return encodeFooter(columns, placed, CREATED_BY, keyValues);
}

async function appendImages<Row>(
  [bytes, path]: readonly ChunkWriter[],
  { type }: ImageColumn<Row>,
  images: readonly ParquetImage[] | null,
): Promise<void> {
  const all = (images ?? []).map((image) => [image.bytes, toBytes(image.path)] as const);
  for (const [index, writer] of [bytes, path].entries()) {
    await writer?.appendRow((page) => {
      const values = all.map((values) => values[index] ?? null);
      if (type === 'image') appendValue(page, values[0], 2);
      else appendList(page, images === null ? null : values, 4);
    });
  }
}

async function appendTexts([leaf]: readonly ChunkWriter[], texts: readonly string[] | null): Promise<void> {
  await leaf?.appendRow((page) => appendList(page, texts?.map(toBytes) ?? null, 3));
}

const toBytes = (text: string | null): Uint8Array | null => (text === null ? null : Buffer.from(text));

/** @param value undefined if the structure is null @param present definition level of a present value */
function appendValue(page: PageBuffer, value: Uint8Array | null | undefined, present: number): void {
  if (value === undefined) page.appendNested(0, 0, null);
  else page.appendNested(value === null ? present - 1 : present, 0, value);
}

/** @param present definition level of a present value */
function appendList(page: PageBuffer, values: readonly (Uint8Array | null)[] | null, present: number): void {
  if (values === null || values.length === 0) {
    page.appendNested(values === null ? 0 : 1, 0, null);
    return;
  }
  for (const [index, value] of values.entries()) {
    page.appendNested(value === null ? present - 1 : present, index === 0 ? 0 : 1, value);
  }
}
