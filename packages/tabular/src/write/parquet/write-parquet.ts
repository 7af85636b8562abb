import { setImmediate as nextTurn } from 'node:timers/promises';
import * as zlib from 'node:zlib';
import { checkBatch, checkColumns, jsonOf, type TableColumn } from '../table-column.ts';
import { type ColumnChunk, encodeFooter, encodePageHeader, type RowGroup } from './metadata.ts';
import { PageBuffer } from './page-buffer.ts';

/** A page ends with the row that brings it to one of these. */
const PAGE_BYTES = 256 * 1024;
const PAGE_ROWS = 16 * 1024;
/** A row group ends with the row that brings it to one of these: its compressed pages are in memory. */
const GROUP_BYTES = 32 * 1024 * 1024;
const GROUP_ROWS = 64 * 1024;
/** Rows that are encoded before the event loop runs, and cells of this many bytes. */
const TURN_ROWS = 256;
const TURN_BYTES = 256 * 1024;
const CHECKSUM_BYTES = 1024 * 1024;

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
  const writers = columns.map(({ type }) => new ChunkWriter(new PageBuffer(type)));
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

/** Compresses the pages of one column in a row group. */
class ChunkWriter {
  readonly #page: PageBuffer;
  #pages: Uint8Array[] = [];
  #rowCount = 0;
  #nullCount = 0;
  #endedBytes = 0;

  constructor(page: PageBuffer) {
    this.#page = page;
  }

  /** Size of all pages so far, before compression. */
  get uncompressedBytes(): number {
    return this.#endedBytes + this.#page.byteLength;
  }

  /** Gives a promise when a cell is long or completes a page. */
  append(json: string | null): Promise<void> | undefined {
    const writing = this.#page.append(json);
    if (writing !== undefined) return writing.then(() => this.#endFullPage());
    return this.#endFullPage();
  }

  /** The chunk with its pages, which begin at `offset`. Begins another chunk. */
  async end(offset: number): Promise<{ readonly chunk: ColumnChunk; readonly pages: readonly Uint8Array[] }> {
    if (this.#page.rowCount > 0) await this.#endPage();
    const pages = this.#pages;
    const chunk = {
      rowCount: this.#rowCount,
      nullCount: this.#nullCount,
      uncompressedBytes: this.#endedBytes,
      compressedBytes: pages.reduce((sum, { byteLength }) => sum + byteLength, 0),
      offset,
    };
    this.#pages = [];
    this.#rowCount = 0;
    this.#nullCount = 0;
    this.#endedBytes = 0;
    return { chunk, pages };
  }

  #endFullPage(): Promise<void> | undefined {
    const page = this.#page;
    return page.byteLength >= PAGE_BYTES || page.rowCount >= PAGE_ROWS ? this.#endPage() : undefined;
  }

  async #endPage(): Promise<void> {
    const page = this.#page;
    const bytes = page.take();
    const { rowCount, nullCount } = page;
    page.reset();
    const compressed = await compress(bytes);
    const header = encodePageHeader({
      rowCount,
      uncompressedBytes: bytes.byteLength,
      compressedBytes: compressed.byteLength,
      crc32: await checksum(compressed),
    });
    this.#rowCount += rowCount;
    this.#nullCount += nullCount;
    this.#endedBytes += header.byteLength + bytes.byteLength;
    this.#pages.push(header, compressed);
  }
}

/** CRC-32 of bytes; the event loop runs after each megabyte. */
async function checksum(bytes: Uint8Array): Promise<number> {
  let crc = 0;
  for (let at = 0; at < bytes.byteLength; at += CHECKSUM_BYTES) {
    if (at > 0) await nextTurn();
    crc = zlib.crc32(bytes.subarray(at, at + CHECKSUM_BYTES), crc);
  }
  return crc;
}

function compress(bytes: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    requireZstd()(bytes, (error, compressed) => (error === null ? resolve(compressed) : reject(error)));
  });
}

/** Node has zstd from 22.15 on. */
function requireZstd(): typeof zlib.zstdCompress {
  const { zstdCompress }: Partial<typeof zlib> = zlib;
  if (zstdCompress !== undefined) return zstdCompress;
  throw new Error(
    `Cannot write Parquet: zstd needs Node 22.15 or newer, and this is ${process.versions.node}.`,
  );
}
