/**
 * Thrift's compact protocol (Thrift specification, "Thrift Compact protocol encoding"), as far as Parquet uses it. It
 * passes over fields that a table does not name, which take no memory.
 */

import { utf8Text } from '../../text/encodings.ts';
import { damaged } from '../parquet-error.ts';
import type { ByteCursor } from './byte-cursor.ts';

const STOP = 0;
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I32 = 5;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCT = 12;

/** Parquet's own structures are nested six deep. */
const MAX_DEPTH = 32;
const METADATA = 'a field of its metadata';
const UTF_8 = new TextDecoder();

interface ThriftInput {
  readonly cursor: ByteCursor;
  readonly depth: number;
}

/** Reads a value of one kind. `type` is what the bytes say it is. @throws ParquetError if that is another kind */
export type ThriftReader<T> = (input: ThriftInput, type: number) => T;

type Fields<T> = Readonly<Record<number, { [K in keyof T]-?: readonly [K, ThriftReader<T[K]>] }[keyof T]>>;

export function readThrift<T>(reader: ThriftReader<T>, cursor: ByteCursor): T {
  return reader({ cursor, depth: 0 }, STRUCT);
}

/** A reader of structures by the numbers of their fields. A field whose value is unknown is left out. */
export function struct<T extends object>(fields: Fields<T>): ThriftReader<Partial<T>> {
  return (input, type) => {
    expectType(type, STRUCT);
    const inner = enter(input);
    const { cursor } = input;
    const value: Partial<T> = {};
    for (let id = 0; ; ) {
      const head = cursor.uint8(METADATA);
      const kind = head & 0x0f;
      if (kind === STOP) return value;
      const step = head >> 4;
      id = step === 0 ? cursor.zigzag(METADATA) : id + step;
      const field = fields[id];
      if (field === undefined) skip(inner, kind);
      else {
        const read = field[1](inner, kind);
        if (read !== undefined) value[field[0]] = read;
      }
    }
  };
}

export function list<T>(reader: ThriftReader<T>): ThriftReader<T[]> {
  return (input, type) => {
    expectType(type, LIST);
    const { length, kind } = listHead(input);
    const inner = enter(input);
    const values: T[] = [];
    for (let index = 0; index < length; index += 1) values.push(reader(inner, kind));
    return values;
  };
}

/** A whole number; beyond 2^53 the nearest. */
export const integer: ThriftReader<number> = ({ cursor }, type) => {
  if (type === BYTE) return (cursor.uint8(METADATA) << 24) >> 24;
  if (type !== I16 && type !== I32 && type !== I64) throw wrongType();
  return cursor.zigzag(METADATA);
};

export const boolean: ThriftReader<boolean> = (_input, type) => {
  if (type !== TRUE && type !== FALSE) throw wrongType();
  return type === TRUE;
};

/** Text in UTF-8; invalid bytes become U+FFFD. */
export const text: ThriftReader<string> = ({ cursor }, type) => {
  expectType(type, BINARY);
  const bytes = cursor.take(cursor.varint(METADATA), METADATA);
  try {
    return utf8Text(bytes);
  } catch {
    return UTF_8.decode(bytes);
  }
};

/** Whether a field is present, whatever it holds. */
export const presence: ThriftReader<true> = (input, type) => {
  skip(input, type);
  return true;
};

/** An enum: the name for a number; undefined for an unknown number. */
export function oneOf<T extends string>(names: readonly T[]): ThriftReader<T | undefined> {
  return (input, type) => names[integer(input, type)];
}

function skip(input: ThriftInput, type: number): void {
  const { cursor } = input;
  switch (type) {
    case TRUE:
    case FALSE:
      return;
    case BYTE:
      cursor.skip(1, METADATA);
      return;
    case I16:
    case I32:
    case I64:
      cursor.varint(METADATA);
      return;
    case DOUBLE:
      cursor.skip(8, METADATA);
      return;
    case BINARY:
      cursor.skip(cursor.varint(METADATA), METADATA);
      return;
    case LIST:
    case SET: {
      const { length, kind } = listHead(input);
      const inner = enter(input);
      // A boolean in a list takes one byte.
      for (let index = 0; index < length; index += 1)
        skip(inner, kind === TRUE || kind === FALSE ? BYTE : kind);
      return;
    }
    case STRUCT:
      SKIPPED(input, STRUCT);
      return;
    default:
      throw wrongType();
  }
}

const SKIPPED = struct<object>({});

function listHead({ cursor }: ThriftInput): { length: number; kind: number } {
  const head = cursor.uint8(METADATA);
  const length = head >> 4 === 15 ? cursor.varint(METADATA) : head >> 4;
  // Every entry has at least one byte, so missing entries take no memory.
  if (length > cursor.left) throw damaged('its metadata has a list that is longer than the metadata');
  return { length, kind: head & 0x0f };
}

function enter({ cursor, depth }: ThriftInput): ThriftInput {
  if (depth >= MAX_DEPTH) throw damaged('its metadata is nested too deeply');
  return { cursor, depth: depth + 1 };
}

function expectType(found: number, expected: number): void {
  if (found !== expected) throw wrongType();
}

function wrongType(): Error {
  return damaged('a field of its metadata has another type than the format says');
}
