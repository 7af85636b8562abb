import type { ByteCursor } from './byte-cursor.ts';
import { boolean, integer, oneOf, readThrift, struct } from './thrift.ts';

/** `Encoding`; the gap was never used. */
const ENCODINGS = [
  'PLAIN',
  'GROUP_VAR_INT',
  'PLAIN_DICTIONARY',
  'RLE',
  'BIT_PACKED',
  'DELTA_BINARY_PACKED',
  'DELTA_LENGTH_BYTE_ARRAY',
  'DELTA_BYTE_ARRAY',
  'RLE_DICTIONARY',
  'BYTE_STREAM_SPLIT',
] as const;
export type Encoding = (typeof ENCODINGS)[number];

const PAGE_TYPES = ['DATA_PAGE', 'INDEX_PAGE', 'DICTIONARY_PAGE', 'DATA_PAGE_V2'] as const;

/** The header of a page, by the format's own names (`PageHeader`). Nothing in it has been checked. */
export interface PageHeader {
  readonly type?: (typeof PAGE_TYPES)[number] | undefined;
  readonly uncompressed_page_size?: number;
  readonly compressed_page_size?: number;
  /** CRC-32 of the bytes after the header, as a signed number. */
  readonly crc?: number;
  readonly data_page_header?: DataPageHeader;
  readonly dictionary_page_header?: { num_values?: number };
  readonly data_page_header_v2?: DataPageHeaderV2;
}

interface DataPageHeader {
  readonly num_values?: number;
  readonly encoding?: Encoding | undefined;
  readonly definition_level_encoding?: Encoding | undefined;
  readonly repetition_level_encoding?: Encoding | undefined;
}

interface DataPageHeaderV2 {
  readonly num_values?: number;
  readonly encoding?: Encoding | undefined;
  readonly definition_levels_byte_length?: number;
  readonly repetition_levels_byte_length?: number;
  readonly is_compressed?: boolean;
}

const encoding = oneOf(ENCODINGS);

const pageHeader = struct<Required<PageHeader>>({
  1: ['type', oneOf(PAGE_TYPES)],
  2: ['uncompressed_page_size', integer],
  3: ['compressed_page_size', integer],
  4: ['crc', integer],
  5: [
    'data_page_header',
    struct<Required<DataPageHeader>>({
      1: ['num_values', integer],
      2: ['encoding', encoding],
      3: ['definition_level_encoding', encoding],
      4: ['repetition_level_encoding', encoding],
    }),
  ],
  7: ['dictionary_page_header', struct<{ num_values: number }>({ 1: ['num_values', integer] })],
  8: [
    'data_page_header_v2',
    struct<Required<DataPageHeaderV2>>({
      1: ['num_values', integer],
      4: ['encoding', encoding],
      5: ['definition_levels_byte_length', integer],
      6: ['repetition_levels_byte_length', integer],
      7: ['is_compressed', boolean],
    }),
  ],
});

/** Reads the header of a page and leaves the cursor behind it. @throws EndOfBytesError, ParquetError */
export function readPageHeader(cursor: ByteCursor): PageHeader {
  return readThrift(pageHeader, cursor);
}
