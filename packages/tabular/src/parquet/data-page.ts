import { assembleLists } from './assemble.ts';
import type { CellValues, LeafColumn, StoredValues, ValueReader } from './cells/convert.ts';
import type { PageInflater } from './codecs/inflate-page.ts';
import { deltaByteArrayReader, deltaLengthReader, deltaReader } from './encodings/delta.ts';
import { dictionaryReader } from './encodings/dictionary.ts';
import { byteStreamSplitReader, plainReader } from './encodings/plain.ts';
import { bitWidth, HybridReader } from './encodings/rle-hybrid.ts';
import { ByteCursor } from './metadata/byte-cursor.ts';
import type { Encoding, PageHeader } from './metadata/page-header.ts';
import { damaged, unsupported } from './parquet-error.ts';

/** Bytes that the values of one page may have together; shared prefixes count each time. */
const MAX_DECODED_BYTES = 256 * 1024 * 1024;
const LEVELS = 'a level of nesting';

interface OpenPage {
  /** Values, nulls and empty lists included. */
  readonly count: number;
  readonly encoding: Encoding | undefined;
  readonly repetition: Uint8Array | null;
  readonly definition: Uint8Array | null;
  readonly values: Uint8Array;
}

/** A data page (Parquet format, "Data Pages"), decoded a few entries at a time. */
export class DataPage {
  readonly #column: LeafColumn;
  readonly #page: OpenPage;
  readonly #dictionary: CellValues | undefined;
  readonly #repetition: HybridReader | null;
  readonly #definition: HybridReader | null;
  #values: { next(count: number): CellValues } | undefined;
  left: number;

  constructor(page: OpenPage, column: LeafColumn, dictionary: CellValues | undefined) {
    this.#column = column;
    this.#page = page;
    this.#dictionary = dictionary;
    this.#repetition = levelReader(page.repetition, column.maxRepetition);
    this.#definition = levelReader(page.definition, column.maxDefinition);
    this.left = page.count;
  }

  get memory(): ArrayBufferLike {
    return this.#page.values.buffer;
  }

  /** Decodes the next entries to one a row, as the assembly of columns takes them. @param open the last row, which may continue */
  next(maxEntries: number, open: readonly unknown[]): CellValues {
    const { maxRepetition, maxDefinition, path } = this.#column;
    const count = Math.min(maxEntries, this.left);
    this.left -= count;
    const repetitions = readLevels(this.#repetition, maxRepetition, count);
    const definitions = readLevels(this.#definition, maxDefinition, count);
    let present = count;
    if (definitions !== null) {
      present = 0;
      for (let index = 0; index < count; index += 1) if (definitions[index] === maxDefinition) present += 1;
    }
    const found = present === 0 ? [] : this.#readValues(present);
    if (path.length === 2 && maxRepetition === 0) {
      return definitions === null || present === count ? found : withNulls(found, definitions, maxDefinition);
    }
    if (repetitions !== null && open.length === 0 && repetitions[0] !== 0)
      throw damaged('its first row has no beginning');
    return assembleLists([...open], definitions, repetitions, found, path);
  }

  #readValues(count: number): CellValues {
    this.#values ??= openValues(this.#page, this.#column, this.#dictionary);
    const values = this.#values.next(count);
    if (values.length !== count) throw damaged('it has fewer values than its page states');
    return values;
  }
}

/** Decompresses a data page. @param body what follows the header */
export async function openDataPage(
  body: Uint8Array,
  header: PageHeader,
  column: LeafColumn,
  inflater: PageInflater,
): Promise<OpenPage> {
  const size = header.uncompressed_page_size ?? 0;
  const second = header.data_page_header_v2;
  if (second !== undefined) {
    const cursor = new ByteCursor(body);
    // Levels come first, and are not compressed.
    const repetition = cursor.take(second.repetition_levels_byte_length ?? 0, LEVELS);
    const definition = cursor.take(second.definition_levels_byte_length ?? 0, LEVELS);
    const packed = cursor.take(cursor.left, 'a page');
    const length = size - repetition.length - definition.length;
    if (length < 0) throw damaged('its levels are longer than their page');
    const isPlain = second.is_compressed === false || (packed.length === 0 && length === 0);
    const values = await inflater.inflate(isPlain ? 'UNCOMPRESSED' : column.codec, packed, length);
    return { count: second.num_values ?? 0, encoding: second.encoding, repetition, definition, values };
  }
  const first = header.data_page_header;
  if (first === undefined) throw damaged('a data page lacks its header');
  const cursor = new ByteCursor(await inflater.inflate(column.codec, body, size));
  const takeLevels = (max: number, encoding: Encoding | undefined): Uint8Array | null => {
    if (max === 0) return null;
    if (encoding !== 'RLE') throw unsupported(`levels in the encoding ${encoding ?? 'of an unknown number'}`);
    return cursor.take(cursor.uint32(LEVELS), LEVELS);
  };
  const repetition = takeLevels(column.maxRepetition, first.repetition_level_encoding);
  const definition = takeLevels(column.maxDefinition, first.definition_level_encoding);
  const values = cursor.take(cursor.left, 'a page');
  return { count: first.num_values ?? 0, encoding: first.encoding, repetition, definition, values };
}

function levelReader(bytes: Uint8Array | null, max: number): HybridReader | null {
  if (max === 0 || bytes === null) return null;
  if (max > 255) throw unsupported('it is nested more than 255 deep');
  return new HybridReader(bytes, bitWidth(max));
}

function readLevels(reader: HybridReader | null, max: number, count: number): Uint8Array | null {
  if (reader === null) return null;
  const levels = new Uint8Array(count);
  reader.read(levels);
  for (let index = 0; index < count; index += 1) {
    if ((levels[index] as number) > max)
      throw damaged(`a level of nesting is ${levels[index]} and not at most ${max}`);
  }
  return levels;
}

function withNulls(found: CellValues, definitions: Uint8Array, maxDefinition: number): CellValues {
  const rows: unknown[] = new Array(definitions.length);
  for (let row = 0, next = 0; row < rows.length; row += 1) {
    rows[row] = definitions[row] === maxDefinition ? found[next++] : null;
  }
  return rows;
}

function openValues(
  { encoding, values, count }: OpenPage,
  column: LeafColumn,
  dictionary: CellValues | undefined,
): { next(count: number): CellValues } {
  const { type, typeLength } = column;
  const cursor = new ByteCursor(values);
  switch (encoding) {
    case 'PLAIN':
      return converted(plainReader(cursor, type, typeLength), column);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      if (dictionary === undefined) throw damaged('a page comes without its dictionary');
      return dictionaryReader(cursor, dictionary);
    case 'RLE': {
      if (type !== 'BOOLEAN') break;
      const bits = new HybridReader(cursor.take(cursor.uint32('a value'), 'a value'), 1);
      return {
        next(wanted) {
          const read = new Uint8Array(wanted);
          bits.read(read);
          return Array.from(read, (bit) => bit === 1);
        },
      };
    }
    case 'DELTA_BINARY_PACKED':
      if (type !== 'INT32' && type !== 'INT64') break;
      return converted(deltaReader(cursor, type), column);
    case 'DELTA_LENGTH_BYTE_ARRAY':
      if (type !== 'BYTE_ARRAY') break;
      return converted(deltaLengthReader(cursor, count), column);
    case 'DELTA_BYTE_ARRAY':
      if (type !== 'BYTE_ARRAY' && type !== 'FIXED_LEN_BYTE_ARRAY') break;
      return converted(deltaByteArrayReader(cursor, count, MAX_DECODED_BYTES), column);
    case 'BYTE_STREAM_SPLIT':
      return converted(byteStreamSplitReader(cursor, type, typeLength), column);
  }
  throw unsupported(`encoding ${encoding ?? 'of an unknown number'} of ${type}`);
}

function converted(reader: ValueReader, column: LeafColumn): { next(count: number): CellValues } {
  return { next: (count) => column.convert(reader.next(count)) };
}

export class RowBuffer {
  #rows: CellValues = [];
  #taken = 0;
  /** The last row of a nested page, which the next page may continue. */
  #open: unknown[] = [];
  #openEntries = 0;

  get ready(): number {
    return this.#rows.length - this.#taken;
  }

  get open(): readonly unknown[] {
    return this.#open;
  }

  set(rows: CellValues): void {
    this.#rows = rows;
    this.#taken = 0;
  }

  /** Replaces the rows by nested ones, with the row that was open. @returns entries of the row that may continue */
  setNested(rows: unknown[], entries: number): number {
    this.#openEntries = rows.length > this.#open.length ? entries : this.#openEntries + entries;
    this.#open = rows.splice(-1);
    this.set(rows);
    return this.#openEntries;
  }

  /** Takes the next rows; at most `ready`. */
  take(count: number): CellValues {
    const from = this.#taken;
    this.#taken += count;
    const rows = this.#rows;
    return Array.isArray(rows)
      ? rows.slice(from, this.#taken)
      : (rows as Exclude<StoredValues, unknown[]>).subarray(from, this.#taken);
  }

  finish(): void {
    if (this.#open.length === 0) return;
    this.set(this.#open);
    this.#open = [];
  }
}
