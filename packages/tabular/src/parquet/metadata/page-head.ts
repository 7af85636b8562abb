import { damaged, unsupported } from '../parquet-error.ts';
import { ByteCursor } from './byte-cursor.ts';
import { type PageHeader, readPageHeader } from './page-header.ts';

/** The header of a page, checked. */
export interface PageHead {
  readonly header: PageHeader;
  readonly headerBytes: number;
  readonly bodyBytes: number;
  /** Length of the body when it is decompressed. */
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
  const header = readPageHeader(cursor);
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

/** The further header that a page of a type has. */
const HEADERS = [
  ['DATA_PAGE', 'data_page_header'],
  ['DATA_PAGE_V2', 'data_page_header_v2'],
  ['DICTIONARY_PAGE', 'dictionary_page_header'],
] as const;

/** Refuses a page whose header belongs to another type. @throws ParquetError */
function checkType(header: PageHeader): void {
  for (const [type, name] of HEADERS) {
    if ((header.type === type) === (header[name] !== undefined)) continue;
    const known = header.type ?? 'an unknown number';
    throw damaged(
      header.type === type
        ? `a page of type ${known} lacks its header`
        : `a page of type ${known} has the header of a ${type}`,
    );
  }
}
