import type { OwnBytes } from '@svc/jsonl-v23/internal';
import { jsonOf } from '../table-column.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { type ColumnChunk, encodeFooter, type RowGroup } from './metadata.ts';
import type { PageBuffer } from './page-buffer.ts';
import {
  type ImageColumn,
  leavesOf,
  type NamedColumn,
  type ParquetColumn,
  type ParquetImage,
} from './parquet-column.ts';
import { CREATED_BY } from './write-parquet.ts';

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
  const chunks: ColumnChunk[] = [];
  const pages: Uint8Array[] = [];
  let offset = 0;
  for (const writer of writers.flat()) {
    const ended = await writer.end(offset);
    chunks.push(ended.chunk);
    pages.push(...ended.pages);
    offset += ended.chunk.compressedBytes;
  }
  const bytes = new Uint8Array(offset);
  let at = 0;
  for (const page of pages) {
    bytes.set(page, at);
    at += page.byteLength;
  }
  return { bytes, group: { rowCount, chunks } };
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

/** Adds a cell to the two leaves of a column of images. */
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

/** Adds a cell to the leaf of a column of lists of texts. */
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
