import { decodeBase64 } from '@svc/jsonl-v23/bytes';
import {
  type Feature,
  type Features,
  featureFromJson,
  listOf,
  type NamedFeature,
  valueFeature,
} from './features.ts';

// Arrow columnar format 1.5: Schema.fbs, numbers of the Type union.
const TYPE = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  list: 12,
  struct: 13,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  binaryView: 23,
  utf8View: 24,
  listView: 25,
  largeListView: 26,
};
const UNITS = ['s', 'ms', 'us', 'ns'];
const SCHEMA_HEADER = 1;
const MAX_DEPTH = 256;
const MAX_FIELDS = 100_000;

/**
 * Decodes the `ARROW:schema` entry of a Parquet file: base64 of an encapsulated Arrow IPC message that holds a schema (Arrow
 * columnar format, "Encapsulated message format"). It tells what Parquet's own schema cannot: large strings, time zones,
 * durations, seconds, lists of fixed length.
 *
 * @returns null if the text is not such a message; the Parquet schema alone is then used
 */
export function decodeArrowSchema(base64: string): Features | null {
  const bytes = decodeBase64(base64);
  if (bytes === null) return null;
  try {
    const reader = new FlatbufferReader(bytes);
    // A continuation marker and a length precede the message; very old files have the length alone.
    const start = reader.uint32(0) === 0xffffffff ? 8 : 4;
    const message = reader.root(start);
    if (reader.uint8Field(message, 1, 0) !== SCHEMA_HEADER) return null;
    const schema = reader.tableField(message, 2);
    if (schema === null) return null;
    const fields = new FieldReader(reader);
    return reader.tableVector(schema, 1).map((field) => fields.read(field, 0));
  } catch (error) {
    // Offsets that lead out of the buffer, texts that are not UTF-8, endless nesting.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

class FieldReader {
  readonly #reader: FlatbufferReader;
  #count = 0;

  constructor(reader: FlatbufferReader) {
    this.#reader = reader;
  }

  /** Table Field: name, nullable, type_type, type, dictionary, children, custom_metadata. */
  read(field: number, depth: number): NamedFeature {
    this.#count += 1;
    if (depth > MAX_DEPTH || this.#count > MAX_FIELDS) throw new RangeError('Too many fields');
    const reader = this.#reader;
    const name = reader.stringField(field, 0) ?? '';
    const children = reader.tableVector(field, 5).map((child) => this.read(child, depth + 1));
    // A dictionary changes how values are stored, not what they are: the values give the type.
    const storage = this.#type(reader.uint8Field(field, 2, 0), reader.tableField(field, 3), children);
    return { name, feature: this.#extension(field) ?? storage };
  }

  #type(type: number, table: number | null, children: readonly NamedFeature[]): Feature {
    const reader = this.#reader;
    const int = (index: number, fallback: number): number =>
      table === null ? fallback : reader.int32Field(table, index, fallback);
    const short = (index: number, fallback: number): number =>
      table === null ? fallback : reader.int16Field(table, index, fallback);
    const flag = (index: number): boolean => table !== null && reader.uint8Field(table, index, 0) !== 0;
    const item = children[0]?.feature ?? { kind: 'unknown' as const, type: 'list' };
    switch (type) {
      case TYPE.null:
        return valueFeature('null');
      case TYPE.int:
        return valueFeature(`${flag(1) ? 'int' : 'uint'}${int(0, 0)}`);
      case TYPE.float:
        return valueFeature(`float${[16, 32, 64][short(0, 0)]}`);
      case TYPE.binary:
        return valueFeature('binary');
      case TYPE.utf8:
        return valueFeature('string');
      case TYPE.bool:
        return valueFeature('bool');
      case TYPE.decimal:
        return valueFeature(`decimal${int(2, 128)}(${int(0, 0)}, ${int(1, 0)})`);
      case TYPE.date:
        return valueFeature(short(0, 1) === 0 ? 'date32' : 'date64');
      case TYPE.time: {
        const unit = short(0, 1);
        return valueFeature(`time${unit < 2 ? 32 : 64}[${UNITS[unit]}]`);
      }
      case TYPE.timestamp: {
        const zone = table === null ? null : reader.stringField(table, 1);
        return valueFeature(`timestamp[${UNITS[short(0, 0)]}${zone ? `, tz=${zone}` : ''}]`);
      }
      case TYPE.duration:
        return valueFeature(`duration[${UNITS[short(0, 1)]}]`);
      case TYPE.largeBinary:
        return valueFeature('large_binary');
      case TYPE.largeUtf8:
        return valueFeature('large_string');
      case TYPE.binaryView:
        return valueFeature('binary_view');
      case TYPE.utf8View:
        return valueFeature('string_view');
      case TYPE.fixedSizeBinary:
        return valueFeature(`fixed_size_binary[${int(0, 0)}]`);
      case TYPE.list:
      case TYPE.listView:
        return listOf(item);
      case TYPE.largeList:
      case TYPE.largeListView:
        return { kind: 'list', item, length: null, large: true };
      case TYPE.fixedSizeList:
        return { kind: 'list', item, length: int(0, 0), large: false };
      case TYPE.struct:
        return { kind: 'struct', fields: children };
      case TYPE.map: {
        const entry = children[0]?.feature;
        const [key, value] = entry?.kind === 'struct' ? entry.fields : [];
        if (key === undefined || value === undefined) return { kind: 'unknown', type: 'map' };
        return { kind: 'map', key: key.feature, value: value.feature };
      }
      default:
        return { kind: 'unknown', type: `arrow_${type}` };
    }
  }

  /** The feature of an extension type, from the field's custom metadata. */
  #extension(field: number): Feature | null {
    const reader = this.#reader;
    const metadata = new Map(
      reader
        .tableVector(field, 6)
        .map((entry) => [reader.stringField(entry, 0) ?? '', reader.stringField(entry, 1) ?? '']),
    );
    const name = metadata.get('ARROW:extension:name');
    if (name === 'arrow.json') return { kind: 'json' };
    const array = /\.(Array[2-5]D)ExtensionType$/.exec(name ?? '')?.[1];
    if (array === undefined) return null;
    // Its parameters are a JSON array: the shape, then the element's dtype.
    const parameters = parseArray(metadata.get('ARROW:extension:metadata') ?? '');
    const [shape, dtype] = parameters;
    return Array.isArray(shape) && typeof dtype === 'string'
      ? featureFromJson({
          _type: array,
          shape: shape.map((size) => (typeof size === 'number' ? size : null)),
          dtype,
        })
      : null;
  }
}

function parseArray(text: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}

/**
 * Reads tables of a FlatBuffer (little-endian; a table begins with the distance back to its vtable, which holds each
 * field's offset or 0). Offsets that lead out of the bytes throw RangeError.
 */
class FlatbufferReader {
  readonly #view: DataView;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint32(at: number): number {
    return this.#view.getUint32(at, true);
  }

  root(start: number): number {
    return start + this.uint32(start);
  }

  uint8Field(table: number, index: number, fallback: number): number {
    const at = this.#field(table, index);
    return at === 0 ? fallback : this.#view.getUint8(at);
  }

  int16Field(table: number, index: number, fallback: number): number {
    const at = this.#field(table, index);
    return at === 0 ? fallback : this.#view.getInt16(at, true);
  }

  int32Field(table: number, index: number, fallback: number): number {
    const at = this.#field(table, index);
    return at === 0 ? fallback : this.#view.getInt32(at, true);
  }

  tableField(table: number, index: number): number | null {
    const at = this.#field(table, index);
    return at === 0 ? null : at + this.uint32(at);
  }

  stringField(table: number, index: number): string | null {
    const at = this.#field(table, index);
    if (at === 0) return null;
    const start = at + this.uint32(at);
    const end = start + 4 + this.uint32(start);
    if (end > this.#bytes.length) throw new RangeError('A text ends outside the buffer');
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      this.#bytes.subarray(start + 4, end),
    );
  }

  tableVector(table: number, index: number): number[] {
    const at = this.#field(table, index);
    if (at === 0) return [];
    const start = at + this.uint32(at);
    const length = this.uint32(start);
    if (length > MAX_FIELDS) throw new RangeError('A vector is too long');
    return Array.from({ length }, (_, position) => {
      const slot = start + 4 + position * 4;
      return slot + this.uint32(slot);
    });
  }

  /** The offset of a field's content; 0 if the field is absent. */
  #field(table: number, index: number): number {
    const vtable = table - this.#view.getInt32(table, true);
    const slot = 4 + index * 2;
    if (slot >= this.#view.getUint16(vtable, true)) return 0;
    const offset = this.#view.getUint16(vtable + slot, true);
    return offset === 0 ? 0 : table + offset;
  }
}
