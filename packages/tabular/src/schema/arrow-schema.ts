import { decodeBase64 } from '@svc/jsonl-v23/bytes';
import { tryParseJson } from '@svc/jsonl-v23/json';
import { type Feature, type Features, featureFromJson, type NamedFeature, valueFeature } from './features.ts';

const UNITS = ['s', 'ms', 'us', 'ns'];
const SCHEMA_HEADER = 1;
const MAX_DEPTH = 256;
const MAX_FIELDS = 100_000;

type ReadType = (type: FlatTable, children: readonly NamedFeature[]) => Feature;

const plain =
  (dtype: string): ReadType =>
  () =>
    valueFeature(dtype);
const list =
  (isLarge: boolean): ReadType =>
  (_, children) => ({ kind: 'list', item: itemOf(children), length: null, large: isLarge });
const itemOf = (children: readonly NamedFeature[]): Feature =>
  children[0]?.feature ?? { kind: 'unknown', type: 'list' };

/** Arrow columnar format 1.5, Schema.fbs: the types by their numbers in the union `Type`. */
const TYPES: Readonly<Record<number, ReadType>> = {
  1: plain('null'),
  2: (type) => valueFeature(`${type.uint8(1) === 0 ? 'uint' : 'int'}${type.int32(0)}`),
  3: (type) => valueFeature(`float${[16, 32, 64][type.int16(0)]}`),
  4: plain('binary'),
  5: plain('string'),
  6: plain('bool'),
  7: (type) => valueFeature(`decimal${type.int32(2, 128)}(${type.int32(0)}, ${type.int32(1)})`),
  8: (type) => valueFeature(type.int16(0, 1) === 0 ? 'date32' : 'date64'),
  9: (type) => valueFeature(`time${type.int16(0, 1) < 2 ? 32 : 64}[${UNITS[type.int16(0, 1)]}]`),
  10: (type) => {
    const zone = type.text(1);
    return valueFeature(`timestamp[${UNITS[type.int16(0)]}${zone ? `, tz=${zone}` : ''}]`);
  },
  12: list(false),
  13: (_, fields) => ({ kind: 'struct', fields }),
  15: (type) => valueFeature(`fixed_size_binary[${type.int32(0)}]`),
  16: (type, children) => ({ kind: 'list', item: itemOf(children), length: type.int32(0), large: false }),
  17: (_, [entry]) => {
    const [key, value] = entry?.feature.kind === 'struct' ? entry.feature.fields : [];
    if (key === undefined || value === undefined) return { kind: 'unknown', type: 'map' };
    return { kind: 'map', key: key.feature, value: value.feature };
  },
  18: (type) => valueFeature(`duration[${UNITS[type.int16(0, 1)]}]`),
  19: plain('large_binary'),
  20: plain('large_string'),
  21: list(true),
  23: plain('binary_view'),
  24: plain('string_view'),
  25: list(false),
  26: list(true),
};

/**
 * Decodes the `ARROW:schema` entry of a Parquet file: base64 of an encapsulated Arrow IPC message that holds a schema (Arrow
 * columnar format, "Encapsulated message format"). It tells what Parquet's own schema cannot: large strings, time zones,
 * durations, seconds, lists of fixed length.
 * @returns null if the text is not such a message; the Parquet schema alone is then used
 */
export function decodeArrowSchema(base64: string): Features | null {
  const bytes = decodeBase64(base64);
  if (bytes === null) return null;
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    // A continuation marker and a length precede the message; very old files have the length alone.
    const start = view.getUint32(0, true) === 0xffffffff ? 8 : 4;
    const message = new FlatTable(view, start + view.getUint32(start, true));
    if (message.uint8(1) !== SCHEMA_HEADER) return null;
    let count = 0;
    /** Table Field: name, nullable, type_type, type, dictionary, children, custom_metadata. */
    const readField = (field: FlatTable, depth: number): NamedFeature => {
      count += 1;
      if (depth > MAX_DEPTH || count > MAX_FIELDS) throw new RangeError('Too many fields');
      const children = field.tables(5).map((child) => readField(child, depth + 1));
      const number = field.uint8(2);
      // A dictionary changes how values are stored, not what they are: the values give the type.
      const read: ReadType = TYPES[number] ?? (() => ({ kind: 'unknown', type: `arrow_${number}` }));
      const feature = extensionOf(field) ?? read(field.table(3) ?? NO_TABLE, children);
      return { name: field.text(0) ?? '', feature };
    };
    return (
      message
        .table(2)
        ?.tables(1)
        .map((field) => readField(field, 0)) ?? null
    );
  } catch (error) {
    // Offsets that lead out of the buffer, texts that are not UTF-8, endless nesting.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

function extensionOf(field: FlatTable): Feature | null {
  const metadata = new Map(field.tables(6).map((entry) => [entry.text(0) ?? '', entry.text(1) ?? '']));
  const name = metadata.get('ARROW:extension:name');
  if (name === 'arrow.json') return { kind: 'json' };
  const array = /\.(Array[2-5]D)ExtensionType$/.exec(name ?? '')?.[1];
  // Its parameters are a JSON array: the shape, then the element's dtype.
  const parameters = tryParseJson(metadata.get('ARROW:extension:metadata') ?? '');
  if (array === undefined || !Array.isArray(parameters)) return null;
  const [shape = null, dtype = null] = parameters;
  const feature = featureFromJson({ _type: array, shape, dtype });
  return feature.kind === 'array' ? feature : null;
}

/**
 * A table of a FlatBuffer (little-endian; a table begins with the distance back to its vtable, which holds each field's
 * offset or 0). Offsets that lead out of the bytes throw RangeError.
 */
class FlatTable {
  readonly #view: DataView;
  readonly #start: number;

  constructor(view: DataView, start: number) {
    this.#view = view;
    this.#start = start;
  }

  uint8(index: number): number {
    const at = this.#field(index);
    return at === 0 ? 0 : this.#view.getUint8(at);
  }

  int16(index: number, absent = 0): number {
    const at = this.#field(index);
    return at === 0 ? absent : this.#view.getInt16(at, true);
  }

  int32(index: number, absent = 0): number {
    const at = this.#field(index);
    return at === 0 ? absent : this.#view.getInt32(at, true);
  }

  table(index: number): FlatTable | null {
    const at = this.#field(index);
    return at === 0 ? null : new FlatTable(this.#view, this.#target(at));
  }

  text(index: number): string | null {
    const at = this.#field(index);
    if (at === 0) return null;
    const { buffer, byteOffset, byteLength } = this.#view;
    const start = this.#target(at);
    const length = this.#view.getUint32(start, true);
    if (start + 4 + length > byteLength) throw new RangeError('A text ends outside the buffer');
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return utf8.decode(new Uint8Array(buffer, byteOffset + start + 4, length));
  }

  tables(index: number): FlatTable[] {
    const at = this.#field(index);
    if (at === 0) return [];
    const start = this.#target(at);
    const length = this.#view.getUint32(start, true);
    if (length > MAX_FIELDS) throw new RangeError('A vector is too long');
    return Array.from(
      { length },
      (_, position) => new FlatTable(this.#view, this.#target(start + 4 + position * 4)),
    );
  }

  #target(at: number): number {
    return at + this.#view.getUint32(at, true);
  }

  #field(index: number): number {
    const vtable = this.#start - this.#view.getInt32(this.#start, true);
    const slot = 4 + index * 2;
    if (slot >= this.#view.getUint16(vtable, true)) return 0;
    const offset = this.#view.getUint16(vtable + slot, true);
    return offset === 0 ? 0 : this.#start + offset;
  }
}

const NO_TABLE = new FlatTable(new DataView(new ArrayBuffer(4)), 0);
