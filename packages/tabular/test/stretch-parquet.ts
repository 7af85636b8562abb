import { type FileMetaData, parquetMetadata, readOffsetIndex } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeIndexes } from 'hyparquet-writer/src/indexes.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';

/**
 * Makes a Parquet file of any size from a small one: its first row group again and again, every column chunk at
 * a separate offset, followed by zeros that belong to it. The beginning of each chunk is real, so the first rows of every
 * group can be read, and the rest must not be.
 */
export function stretchParquet(
  source: Uint8Array,
  options: { groups: number; chunkBytes: number; pageIndex: boolean },
): { byteLength: number; rowCount: number; read(start: number, end: number): Uint8Array } {
  const metadata = parquetMetadata(source);
  const [group] = metadata.row_groups;
  const realRows = Number(group!.num_rows);
  const largest = Math.max(
    ...group!.columns.map(({ meta_data: meta }) => Number(meta!.total_compressed_size)),
  );
  const rows = Math.floor((realRows * options.chunkBytes) / largest);
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength);
  const real: Array<{ at: number; bytes: Uint8Array }> = [];
  const pageIndexes: Parameters<typeof writeIndexes>[1] = [];
  let at = 4;

  const rowGroups = Array.from({ length: options.groups }, (): FileMetaData['row_groups'][number] => ({
    ...group!,
    num_rows: BigInt(rows),
    columns: group!.columns.map((column) => {
      const meta = column.meta_data!;
      const start = Number(meta.dictionary_page_offset ?? meta.data_page_offset);
      const size = Number(meta.total_compressed_size);
      const moved = BigInt(at - start);
      real.push({ at, bytes: source.subarray(start, start + size) });
      at += options.chunkBytes;
      const scale = options.chunkBytes / size;
      const chunk: typeof column = {
        file_offset: 0n,
        meta_data: {
          ...meta,
          num_values: BigInt(rows),
          total_compressed_size: BigInt(options.chunkBytes),
          total_uncompressed_size: BigInt(Math.floor(Number(meta.total_uncompressed_size) * scale)),
          data_page_offset: meta.data_page_offset + moved,
          ...(meta.dictionary_page_offset
            ? { dictionary_page_offset: meta.dictionary_page_offset + moved }
            : {}),
        },
      };
      if (options.pageIndex && column.offset_index_offset) {
        const { page_locations: pages } = readOffsetIndex({
          view,
          offset: Number(column.offset_index_offset),
        });
        const offsetIndex = {
          page_locations: pages.map((page) => ({ ...page, offset: page.offset + moved })),
        };
        pageIndexes.push({ chunk, offsetIndex });
      }
      return chunk;
    }),
  }));

  const writer = new ByteWriter();
  writer.offset = at;
  writeIndexes(writer, pageIndexes);
  writeMetadata(writer, { ...metadata, num_rows: BigInt(rows * options.groups), row_groups: rowGroups });
  writer.appendUint32(0x31524150);
  const end = writer.getBytes();
  real.push({ at: 0, bytes: new TextEncoder().encode('PAR1') }, { at, bytes: end });

  return {
    byteLength: at + end.length,
    rowCount: rows * options.groups,
    read(from, to) {
      const bytes = new Uint8Array(to - from);
      for (const part of real) {
        const first = Math.max(from, part.at);
        const last = Math.min(to, part.at + part.bytes.length);
        if (first < last) bytes.set(part.bytes.subarray(first - part.at, last - part.at), first - from);
      }
      return bytes;
    },
  };
}
