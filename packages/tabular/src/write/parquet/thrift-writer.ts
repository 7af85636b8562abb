/** Types of the compact protocol. */
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/** A value to write: integers of two sizes, text, a list of one kind, or a structure of its fields by their number. */
export type ThriftValue =
  | { readonly i32: number }
  | { readonly i64: number }
  | { readonly text: string }
  | { readonly list: readonly ThriftValue[] }
  | { readonly struct: ThriftStruct };

/** Fields by number, in ascending order; undefined ones are left out. */
export type ThriftStruct = ReadonlyMap<number, ThriftValue | undefined>;

/**
 * Writes a structure in Thrift's compact protocol, as far as the metadata of Parquet needs it.
 * @see https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
 */
export function encodeThrift(struct: ThriftStruct): Uint8Array {
  const bytes: number[] = [];
  writeStruct(bytes, struct);
  return Uint8Array.from(bytes);
}

function writeStruct(bytes: number[], struct: ThriftStruct): void {
  let previous = 0;
  for (const [id, value] of struct) {
    if (value === undefined) continue;
    const delta = id - previous;
    if (delta < 1 || delta > 15) throw new RangeError(`Field ${id} cannot follow field ${previous}.`);
    bytes.push((delta << 4) | typeOf(value));
    writeValue(bytes, value);
    previous = id;
  }
  bytes.push(0);
}

function typeOf(value: ThriftValue): number {
  if ('i32' in value) return I32;
  if ('i64' in value) return I64;
  if ('text' in value) return BINARY;
  return 'list' in value ? LIST : STRUCT;
}

function writeValue(bytes: number[], value: ThriftValue): void {
  if ('struct' in value) writeStruct(bytes, value.struct);
  else if ('list' in value) {
    const { list } = value;
    const type = list[0] === undefined ? STRUCT : typeOf(list[0]);
    if (list.length < 15) bytes.push((list.length << 4) | type);
    else {
      bytes.push(0xf0 | type);
      writeVarint(bytes, list.length);
    }
    for (const entry of list) writeValue(bytes, entry);
  } else if ('text' in value) {
    const text = new TextEncoder().encode(value.text);
    writeVarint(bytes, text.byteLength);
    for (const byte of text) bytes.push(byte);
  } else {
    const integer = 'i32' in value ? value.i32 : value.i64;
    // The zigzag form, by arithmetic: a shift would cut it to 32 bits.
    writeVarint(bytes, integer < 0 ? -2 * integer - 1 : 2 * integer);
  }
}

/** A non-negative integer in groups of seven bits, the lowest first. */
function writeVarint(bytes: number[], integer: number): void {
  let rest = integer;
  while (rest > 0x7f) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}
