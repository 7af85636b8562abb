import { damaged, unsupported } from '../parquet-error.ts';
import { ByteCursor } from './byte-cursor.ts';
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

/** The header of a page, checked. */
export interface PageHead {
  readonly header: PageHeader;
  readonly headerBytes: number;
  readonly bodyBytes: number;
  readonly uncompressedBytes: number;
  readonly kind: 'dictionary' | 'data' | 'other';
  /** Values of a data page, nulls and empty lists included. */
  readonly valueCount: number;
}

/** Bytes to which a page may inflate. Pages are meant to have 1 MB. */
const MAX_PAGE_BYTES = 512 * 1024 * 1024;
/** Incompressible data grows by a sixth at most, in any compression. */
const MAX_GROWTH = 1.25;
/** Frames also have headers of some bytes. */
const GROWTH_SLACK_BYTES = 64 * 1024;

/** Reads the header at the beginning of a page. @throws EndOfBytesError, ParquetError */
export function readPageHead(bytes: Uint8Array): PageHead {
  const cursor = new ByteCursor(bytes);
  const header: PageHeader = readThrift(pageHeader, cursor);
  const { compressed_page_size: bodyBytes, uncompressed_page_size: uncompressedBytes } = header;
  if (bodyBytes === undefined || bodyBytes < 0 || uncompressedBytes === undefined || uncompressedBytes < 0) {
    throw damaged('a page has no size');
  }
  if (uncompressedBytes > MAX_PAGE_BYTES) throw unsupported(`a page has ${uncompressedBytes} bytes`);
  if (bodyBytes > uncompressedBytes * MAX_GROWTH + GROWTH_SLACK_BYTES) {
    throw damaged(`a page of ${bodyBytes} bytes says it inflates to ${uncompressedBytes}`);
  }
  const head = { header, headerBytes: cursor.offset, bodyBytes, uncompressedBytes, valueCount: 0 };
  checkType(header);
  if (header.type === 'DICTIONARY_PAGE') return { ...head, kind: 'dictionary' };
  const data = header.data_page_header ?? header.data_page_header_v2;
  if (data === undefined) return { ...head, kind: 'other' };
  const valueCount = data.num_values ?? 0;
  if (valueCount < 0) throw damaged('a page has no number of values');
  return { ...head, kind: 'data', valueCount };
}

const HEADERS = [
  ['DATA_PAGE', 'data_page_header'],
  ['DATA_PAGE_V2', 'data_page_header_v2'],
  ['DICTIONARY_PAGE', 'dictionary_page_header'],
] as const;

function checkType(header: PageHeader): void {
  for (const [type, name] of HEADERS) {
    const isOfType = header.type === type;
    if (isOfType === (header[name] !== undefined)) continue;
    const fault = isOfType ? 'lacks its header' : `has the header of a ${type}`;
    throw damaged(`a page of type ${header.type ?? 'an unknown number'} ${fault}`);
  }
}
