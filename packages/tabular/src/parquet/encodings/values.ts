/** Values of one column as they are stored, nulls left out. */
export type StoredValues =
  | Int32Array
  | BigInt64Array
  | Float32Array
  | Float64Array
  | boolean[]
  | bigint[]
  | Uint8Array[];

/**
 * Decodes the values of one page, some at a time, so that a page of a few bytes that encodes millions of values takes
 * the memory of some thousands.
 */
export interface ValueReader {
  /** The next `count` values. @throws ParquetError if the page holds fewer, or its bytes are damaged */
  next(count: number): StoredValues;
}
