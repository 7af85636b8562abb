import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkBatch, checkColumns, jsonOf, type TableColumn } from '../table-column.ts';
import { ChunkWriter, requireZstd } from './chunk-writer.ts';
import { type ColumnChunk, encodeFooter, type RowGroup } from './metadata.ts';
import { leavesOf } from './parquet-column.ts';

/** A row group ends with the row that brings it to one of these: its compressed pages are in memory. */
const GROUP_BYTES = 32 * 1024 * 1024;
const GROUP_ROWS = 64 * 1024;
/** Rows that are encoded before the event loop runs, and cells of this many bytes. */
const TURN_ROWS = 256;
const TURN_BYTES = 256 * 1024;

export const CREATED_BY = 'svc-tabular version 1.0.0';

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
  let offset = 4;
  let groupRows = 0;
  let turnRows = 0;
  let turnBytes = 0;
  yield Buffer.from('PAR1');

  const endGroup = async function* (): AsyncGenerator<Uint8Array> {
    const chunks: ColumnChunk[] = [];
    for (const writer of writers) {
      const { chunk, pages } = await writer.end(offset);
      chunks.push(chunk);
      offset += chunk.compressedBytes;
      yield* pages;
    }
    groups.push({ rowCount: groupRows, chunks });
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
