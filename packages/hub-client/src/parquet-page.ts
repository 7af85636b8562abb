import type { DecodedArray, SchemaTree } from 'hyparquet';
import { assembleLists } from 'hyparquet/src/assemble.js';
import { convert } from 'hyparquet/src/convert.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { byteStreamSplit } from 'hyparquet/src/encoding.js';
import { readPlain } from 'hyparquet/src/plain.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel } from 'hyparquet/src/schema.js';
import type { ColumnDecoder, DataReader, Encoding, PageHeader } from 'hyparquet/src/types.js';
import { adjacentTexts, plainTexts, TextSlices } from './text-slices.ts';

/** A column's way from the root of the schema to its values. */
export interface LeafShape {
  path: SchemaTree[];
  maxRepetition: number;
  maxDefinition: number;
}

/** Bytes that the values of one page may have together; prefixes that are shared count each time. */
const MAX_DECODED_BYTES = 512 * 1024 * 1024;

export function leafShape(path: SchemaTree[]): LeafShape {
  return { path, maxRepetition: getMaxRepetitionLevel(path), maxDefinition: getMaxDefinitionLevel(path) };
}

/** Values of one column, one to a row. */
export type ColumnValues = DecodedArray | TextSlices;

/**
 * How a column is decoded. Texts come as `TextSlices` where that is asked for; where their encoding has none, in bytes.
 */
export interface ValueDecoder extends ColumnDecoder {
  textSlices?: boolean;
}

/** Decodes a dictionary page. `body` is what follows the header. */
export function decodeDictionary(body: Uint8Array, header: PageHeader, decoder: ValueDecoder): ColumnValues {
  const head = header.dictionary_page_header;
  if (head === undefined) throw new Error('dictionary page without a header');
  const page = decompressPage(body, header.uncompressed_page_size, decoder.codec, decoder.compressors);
  if (!(head.num_values >= 0) || head.num_values > page.length * 8)
    throw new Error('dictionary is too short');
  if (wantsSlices(decoder)) return plainTexts(page, head.num_values);
  return convert(
    readPlain(readerOf(page), decoder.type, head.num_values, decoder.element.type_length),
    decoder,
  );
}

/**
 * Decodes a data page (Parquet format, "Data Pages") to one entry a row, in the nesting that the assembly of
 * columns takes. `open` holds the last row of the page before, which this page may go on with.
 *
 * Counts are those of the page's levels and are checked against the bytes that are there: a page is a stranger's.
 */
export function decodeDataPage(
  body: Uint8Array,
  header: PageHeader,
  decoder: ValueDecoder,
  shape: LeafShape,
  dictionary: ColumnValues | undefined,
  open: readonly unknown[],
): ColumnValues {
  const { maxRepetition, maxDefinition, path } = shape;
  const { count, encoding, repetition, definition, values } = openPage(body, header, decoder, shape);

  const repetitions = readLevels(repetition, maxRepetition, count);
  const definitions = readLevels(definition, maxDefinition, count);
  let present = count;
  if (definitions !== null) {
    present = 0;
    for (let i = 0; i < count; i++) if (definitions[i] === maxDefinition) present++;
  }
  const found = readValues(values, encoding, present, decoder, dictionary);
  if (found.length !== present) throw new Error(`page has ${found.length} values and not ${present}`);

  if (path.length === 2 && maxRepetition === 0) {
    if (present === count) return found;
    if (found instanceof TextSlices)
      return found.spread(count, (place) => definitions![place] === maxDefinition);
    const rows: unknown[] = new Array(count);
    for (let i = 0, next = 0; i < count; i++)
      rows[i] = definitions![i] === maxDefinition ? found[next++] : null;
    return rows;
  }
  if (found instanceof TextSlices) throw new Error('texts of nested columns have no slices');
  // Typed arrays serve as well as plain ones here: they are only read.
  const levels = (array: Uint8Array | null): number[] => (array ?? []) as unknown as number[];
  const rows = assembleLists([...open], levels(definitions), levels(repetitions), found, path);
  return Array.isArray(rows) ? rows : Array.from(rows as ArrayLike<unknown>);
}

interface OpenPage {
  count: number;
  encoding: Encoding;
  repetition: Uint8Array | null;
  definition: Uint8Array | null;
  values: Uint8Array;
}

function openPage(body: Uint8Array, header: PageHeader, decoder: ColumnDecoder, shape: LeafShape): OpenPage {
  const { codec, compressors } = decoder;
  const second = header.data_page_header_v2;
  if (second !== undefined) {
    const repetitionEnd = second.repetition_levels_byte_length;
    const levelsEnd = repetitionEnd + second.definition_levels_byte_length;
    if (!(repetitionEnd >= 0 && levelsEnd >= repetitionEnd && levelsEnd <= body.length)) {
      throw new Error('levels are longer than their page');
    }
    const packed = body.subarray(levelsEnd);
    const size = header.uncompressed_page_size - levelsEnd;
    const plain = second.is_compressed === false || (packed.length === 0 && size === 0);
    return {
      count: second.num_values,
      encoding: second.encoding,
      repetition: body.subarray(0, repetitionEnd),
      definition: body.subarray(repetitionEnd, levelsEnd),
      values: plain ? packed : decompressPage(packed, size, codec, compressors),
    };
  }
  const first = header.data_page_header;
  if (first === undefined) throw new Error('data page without a header');
  let rest = decompressPage(body, header.uncompressed_page_size, codec, compressors);
  const takeLevels = (max: number, encoding: Encoding): Uint8Array | null => {
    if (max === 0) return null;
    if (encoding !== 'RLE') throw new Error(`unsupported encoding of levels: ${encoding}`);
    const { part, after } = takeSized(rest);
    rest = after;
    return part;
  };
  const repetition = takeLevels(shape.maxRepetition, first.repetition_level_encoding);
  const definition = takeLevels(shape.maxDefinition, first.definition_level_encoding);
  return { count: first.num_values, encoding: first.encoding, repetition, definition, values: rest };
}

/** Bytes with their length in front (little-endian, four bytes). */
function takeSized(bytes: Uint8Array): { part: Uint8Array; after: Uint8Array } {
  const length = bytes.length < 4 ? Number.POSITIVE_INFINITY : readerOf(bytes).view.getUint32(0, true);
  if (4 + length > bytes.length) throw new Error('levels are longer than their page');
  return { part: bytes.subarray(4, 4 + length), after: bytes.subarray(4 + length) };
}

function readLevels(bytes: Uint8Array | null, max: number, count: number): Uint8Array | null {
  if (max === 0 || bytes === null) return null;
  if (max > 255) throw new Error('unsupported depth of nesting');
  const levels = new Uint8Array(count);
  readHybrid(bytes, bitWidth(max), levels);
  return levels;
}

function readValues(
  bytes: Uint8Array,
  encoding: Encoding,
  count: number,
  decoder: ValueDecoder,
  dictionary: ColumnValues | undefined,
): ColumnValues {
  if (count === 0) return [];
  const { type, element } = decoder;
  const reader = readerOf(bytes);
  switch (encoding) {
    case 'PLAIN':
      if (wantsSlices(decoder)) return plainTexts(bytes, count);
      return convert(readPlain(reader, type, count, element.type_length), decoder);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY': {
      if (dictionary === undefined) throw new Error('page without its dictionary');
      const indexes = new Int32Array(count);
      readHybrid(bytes.subarray(1), reader.view.getUint8(0), indexes);
      return dictionary instanceof TextSlices ? dictionary.pick(indexes) : lookUp(dictionary, indexes);
    }
    case 'RLE': {
      if (type !== 'BOOLEAN') throw new Error(`unsupported encoding RLE of ${type}`);
      const bits = new Uint8Array(count);
      readHybrid(takeSized(bytes).part, 1, bits);
      return Array.from(bits, (bit) => bit === 1);
    }
    case 'DELTA_BINARY_PACKED':
      return convert(
        readDeltas(reader, count, type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count)),
        decoder,
      );
    case 'DELTA_LENGTH_BYTE_ARRAY': {
      const lengths = readDeltas(reader, count, new Int32Array(count));
      if (wantsSlices(decoder)) return adjacentTexts(bytes, reader.offset, lengths);
      return convert(takeSlices(bytes, reader.offset, lengths), decoder);
    }
    case 'DELTA_BYTE_ARRAY': {
      const prefixes = readDeltas(reader, count, new Int32Array(count));
      const lengths = readDeltas(reader, count, new Int32Array(count));
      return convert(addPrefixes(prefixes, takeSlices(bytes, reader.offset, lengths)), decoder);
    }
    case 'BYTE_STREAM_SPLIT':
      return convert(byteStreamSplit(reader, count, type, element.type_length), decoder);
    default:
      throw new Error(`unsupported encoding: ${encoding}`);
  }
}

function wantsSlices({ textSlices, type }: ValueDecoder): boolean {
  return textSlices === true && type === 'BYTE_ARRAY';
}

function readDeltas<T extends Int32Array | BigInt64Array>(reader: DataReader, count: number, output: T): T {
  deltaBinaryUnpack(reader, count, output);
  return output;
}

function takeSlices(bytes: Uint8Array, start: number, lengths: Int32Array): Uint8Array[] {
  let at = start;
  return Array.from(lengths, (length) => {
    if (length < 0 || at + length > bytes.length) throw new Error('a value is longer than its page');
    at += length;
    return bytes.subarray(at - length, at);
  });
}

function addPrefixes(prefixes: Int32Array, suffixes: readonly Uint8Array[]): Uint8Array[] {
  let before = new Uint8Array();
  let left = MAX_DECODED_BYTES;
  return suffixes.map((suffix, index) => {
    const prefix = prefixes[index]!;
    if (prefix < 0 || prefix > before.length) throw new Error('a value shares more than there is');
    left -= prefix + suffix.length;
    if (left < 0) throw new Error('unsupported size of a page');
    const value = new Uint8Array(prefix + suffix.length);
    value.set(before.subarray(0, prefix));
    value.set(suffix, prefix);
    before = value;
    return value;
  });
}

function lookUp(dictionary: DecodedArray, indexes: Int32Array): DecodedArray {
  const size = dictionary.length;
  const output = (
    Array.isArray(dictionary)
      ? new Array(indexes.length)
      : new (dictionary.constructor as new (length: number) => DecodedArray)(indexes.length)
  ) as unknown[];
  for (let i = 0; i < indexes.length; i++) {
    const index = indexes[i]!;
    if (index < 0 || index >= size) throw new Error('a value is not in the dictionary');
    output[i] = dictionary[index];
  }
  return output;
}

/**
 * The run-length and bit-packing hybrid (Parquet format, "Run Length Encoding / Bit-Packing Hybrid"), without a
 * length in front. Fills `output` and takes no more than it holds, whatever a run claims.
 */
export function readHybrid(bytes: Uint8Array, width: number, output: Uint8Array | Int32Array): void {
  const size = output.length;
  if (width > 32) throw new Error(`impossible bit width ${width}`);
  // Values of no bits are all zero.
  if (width === 0) return;
  const valueBytes = (width + 7) >> 3;
  let at = 0;
  let seen = 0;
  while (seen < size) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      if (at >= bytes.length || shift > 28) throw new Error('runs end early');
      const byte = bytes[at++]!;
      header += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const packed = header % 2 === 1;
    const runs = Math.floor(header / 2);
    if (packed) {
      const count = Math.min(runs * 8, size - seen);
      if (at + Math.ceil((count * width) / 8) > bytes.length) throw new Error('runs end early');
      unpack(bytes, at, width, output, seen, count);
      at += runs * width;
      seen += count;
    } else {
      if (at + valueBytes > bytes.length) throw new Error('runs end early');
      let value = 0;
      for (let i = 0; i < valueBytes; i++) value |= bytes[at++]! << (8 * i);
      const count = Math.min(runs, size - seen);
      output.fill(value, seen, seen + count);
      seen += count;
    }
  }
}

/** Values of `width` bits each, the lowest bits first. */
function unpack(
  bytes: Uint8Array,
  start: number,
  width: number,
  output: Uint8Array | Int32Array,
  from: number,
  count: number,
): void {
  const mask = width === 32 ? -1 : (1 << width) - 1;
  let bit = 0;
  for (let i = 0; i < count; i++, bit += width) {
    const at = start + (bit >>> 3);
    const shift = bit & 7;
    let value = bytes[at]! >>> shift;
    for (let have = 8 - shift, next = at + 1; have < width; have += 8, next++) value |= bytes[next]! << have;
    output[from + i] = value & mask;
  }
}

/** Bits that numbers up to `max` need. */
function bitWidth(max: number): number {
  return 32 - Math.clz32(max);
}

function readerOf(bytes: Uint8Array): DataReader {
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
}
