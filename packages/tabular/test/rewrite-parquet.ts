import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type CompressionCodec, type FileMetaData, parquetMetadata } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { snappyCompress } from 'hysnappy';

export interface RewriteOptions {
  codec: CompressionCodec;
  /** Version of the data pages. */
  version: 1 | 2;
  /** Gives every page this checksum of what follows its header. */
  crc?: (body: Uint8Array) => number;
  /** Other definition levels for every page of version 2, and how many there are. */
  levels?: () => { count: number; definition: Uint8Array };
  /** Other repetition levels for every page of version 2. */
  repetition?: () => Uint8Array;
  /** Compresses pages in another way. */
  compress?: (page: Uint8Array) => Uint8Array;
  /** How many values dictionaries claim to have. */
  dictionaryCount?: number;
  /** Changes what the footer says. */
  metadata?: (metadata: FileMetaData) => void;
}

const MAGIC = new TextEncoder().encode('PAR1');

/** One LZ4 block of literals. */
function lz4Block(bytes: Uint8Array): Uint8Array {
  const extra = bytes.length - 15;
  const lengths = extra < 0 ? [] : [...new Array<number>(Math.floor(extra / 255)).fill(255), extra % 255];
  return Uint8Array.from([Math.min(bytes.length, 15) << 4, ...lengths, ...bytes]);
}

/** Hadoop's frame: both lengths, the highest byte first. */
function hadoopLz4(bytes: Uint8Array): Uint8Array {
  const block = lz4Block(bytes);
  const frame = new Uint8Array(8 + block.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, bytes.length);
  view.setUint32(4, block.length);
  frame.set(block, 8);
  return frame;
}

const COMPRESSORS: Partial<Record<CompressionCodec, (bytes: Uint8Array) => Uint8Array>> = {
  UNCOMPRESSED: (bytes) => bytes,
  SNAPPY: (bytes) => snappyCompress(bytes),
  GZIP: (bytes) => gzipSync(bytes),
  BROTLI: (bytes) => brotliCompressSync(bytes),
  ZSTD: (bytes) => zstdCompressSync(bytes),
  LZ4_RAW: lz4Block,
  LZ4: hadoopLz4,
};

/** Every codec that is read. */
export const CODECS = Object.keys(COMPRESSORS) as CompressionCodec[];

/**
 * Writes the pages of an uncompressed file with pages of version 2, as `writeParquet` makes them, in another version and
 * another compression.
 */
export function rewriteParquet(source: Uint8Array, options: RewriteOptions): Uint8Array {
  const metadata = parquetMetadata(source);
  const writer = new ByteWriter();
  writer.appendBytes(MAGIC);
  for (const { columns } of metadata.row_groups) {
    for (const column of columns) {
      const meta = column.meta_data!;
      const start = Number(meta.dictionary_page_offset ?? meta.data_page_offset);
      const chunk = source.subarray(start, start + Number(meta.total_compressed_size));
      const written = writeChunk(writer, chunk, options);
      meta.codec = options.codec;
      meta.total_compressed_size = BigInt(written.end - written.start);
      meta.data_page_offset = BigInt(written.firstData);
      if (meta.dictionary_page_offset) meta.dictionary_page_offset = BigInt(written.start);
      delete column.offset_index_offset;
      delete column.offset_index_length;
    }
  }
  options.metadata?.(metadata);
  writeMetadata(writer, metadata);
  writer.appendUint32(0x31524150);
  return new Uint8Array(writer.getBytes());
}

function writeChunk(
  writer: ByteWriter,
  chunk: Uint8Array,
  { codec, version, levels, repetition: otherRepetition, crc, ...options }: RewriteOptions,
): { start: number; firstData: number; end: number } {
  const compress = options.compress ?? COMPRESSORS[codec]!;
  const checksum = (...parts: Uint8Array[]): { crc?: number } =>
    crc === undefined ? {} : { crc: crc(Buffer.concat(parts)) };
  const start = writer.offset;
  let firstData: number | undefined;
  const reader = { view: new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength), offset: 0 };
  while (reader.offset < chunk.length) {
    const header = parquetHeader(reader);
    const body = chunk.subarray(reader.offset, reader.offset + header.compressed_page_size);
    reader.offset += body.length;
    if (header.dictionary_page_header !== undefined) {
      const packed = compress(body);
      writePageHeader(writer, {
        type: 'DICTIONARY_PAGE',
        uncompressed_page_size: body.length,
        compressed_page_size: packed.length,
        ...checksum(packed),
        dictionary_page_header: {
          num_values: options.dictionaryCount ?? header.dictionary_page_header.num_values,
          encoding: 'PLAIN',
        },
      });
      writer.appendBytes(packed);
      continue;
    }
    firstData ??= writer.offset;
    const second = header.data_page_header_v2!;
    const repetitionBytes = second.repetition_levels_byte_length;
    const definitionBytes = second.definition_levels_byte_length;
    const repetition = otherRepetition?.() ?? body.subarray(0, repetitionBytes);
    const definition = body.subarray(repetitionBytes, repetitionBytes + definitionBytes);
    const values = body.subarray(repetitionBytes + definitionBytes);
    if (version === 2) {
      const packed = compress(values);
      const other = levels?.();
      const defined = other?.definition ?? definition;
      writePageHeader(writer, {
        type: 'DATA_PAGE_V2',
        uncompressed_page_size: repetition.length + defined.length + values.length,
        compressed_page_size: repetition.length + defined.length + packed.length,
        ...checksum(repetition, defined, packed),
        data_page_header_v2: {
          ...second,
          is_compressed: true,
          repetition_levels_byte_length: repetition.length,
          ...(other && { num_values: other.count, definition_levels_byte_length: other.definition.length }),
        },
      });
      for (const part of [repetition, defined, packed]) writer.appendBytes(part);
      continue;
    }
    const sized = (levels: Uint8Array): number[] =>
      levels.length === 0 ? [] : [...new Uint8Array(Uint32Array.of(levels.length).buffer), ...levels];
    const page = Uint8Array.from([...sized(repetition), ...sized(definition), ...values]);
    const packed = compress(page);
    writePageHeader(writer, {
      type: 'DATA_PAGE',
      uncompressed_page_size: page.length,
      compressed_page_size: packed.length,
      ...checksum(packed),
      data_page_header: {
        num_values: second.num_values,
        encoding: second.encoding,
        definition_level_encoding: 'RLE',
        repetition_level_encoding: 'RLE',
      },
    });
    writer.appendBytes(packed);
  }
  return { start, firstData: firstData ?? start, end: writer.offset };
}
