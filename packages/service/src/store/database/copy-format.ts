/**
 * The binary format of COPY, written and read: a header, rows, a trailer. A row is the number of its fields, then the byte
 * length and the bytes of each field; a null has the length -1.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */

export const COPY_HEADER: Uint8Array = Uint8Array.from([
  ...[0x50, 0x47, 0x43, 0x4f, 0x50, 0x59, 0x0a, 0xff, 0x0d, 0x0a, 0x00],
  ...[0, 0, 0, 0],
  ...[0, 0, 0, 0],
]);

/** A row of -1 fields ends the data. */
export const COPY_TRAILER: Uint8Array = Uint8Array.from([0xff, 0xff]);

const NULL_LENGTH = -1;
/** Shorter fields are copied faster by a loop than by a view and a call. */
const SHORT_BYTES = 48;

/** Writes an integer, or the length of a field. @returns the position after it */
export function putInt32(bytes: Uint8Array, at: number, value: number): number {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
  return at + 4;
}

export function putNull(bytes: Uint8Array, at: number): number {
  return putInt32(bytes, at, NULL_LENGTH);
}

/** Writes a field: the bytes from `start` to `end` of `content`; null for a start of -1. @returns the position after it */
export function putField(bytes: Uint8Array, at: number, content: Uint8Array, start: number, end: number) {
  if (start === -1) return putNull(bytes, at);
  const next = putInt32(bytes, at, end - start);
  if (end - start > SHORT_BYTES) {
    bytes.set(content.subarray(start, end), next);
    return next + end - start;
  }
  let to = next;
  for (let from = start; from < end; from += 1) bytes[to++] = content[from] as number;
  return to;
}

export type FieldValue = number | bigint | string | Uint8Array | null;

/** The parts of a row. Bytes are not copied: they are a separate part between the others. */
export function* rowParts(values: readonly FieldValue[]): Generator<Uint8Array> {
  let head = Buffer.allocUnsafe(2);
  head.writeInt16BE(values.length);
  for (const value of values) {
    const bytes = value === null ? null : bytesOf(value);
    const length = Buffer.allocUnsafe(4);
    putInt32(length, 0, bytes?.byteLength ?? NULL_LENGTH);
    if (value instanceof Uint8Array) {
      yield Buffer.concat([head, length]);
      yield value;
      head = Buffer.alloc(0);
    } else head = Buffer.concat([head, length, bytes ?? Buffer.alloc(0)]);
  }
  if (head.byteLength > 0) yield head;
}

function bytesOf(value: Exclude<FieldValue, null>): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return Buffer.from(value);
  const bytes = Buffer.allocUnsafe(typeof value === 'number' ? 4 : 8);
  if (typeof value === 'number') bytes.writeInt32BE(value);
  else bytes.writeBigInt64BE(value);
  return bytes;
}

export function uuidBytes(uuid: string): Uint8Array {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex');
}

export interface CutRows {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
  readonly end: number;
}

/** A long row whose last field has not arrived completely. */
export interface LongRow {
  /** The row as far as the first bytes of its last field, at least {@link LONG_ROW_START_BYTES} of them. */
  readonly start: Buffer;
  /** The rest of the last field, which must be read to its end before the next row. */
  readonly rest: AsyncIterable<Uint8Array>;
}

/** A row of more bytes does not have to be in memory as a whole. */
const LONG_ROW_BYTES = 1024 * 1024;
const LONG_ROW_START_BYTES = 8;

/** Cuts what the server sends into rows. Yields the complete rows of each chunk as one batch; holds one incomplete row. */
export async function* cutRows(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<CutRows, void, undefined> {
  const cutter = new RowCutter();
  for await (const chunk of chunks) {
    const batch = cutter.add(chunk);
    if (batch !== null) yield batch;
  }
}

/** As {@link cutRows}, but the last field of a long row comes in the pieces that the server sends: no long row is held. */
export async function* cutLongRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<CutRows | LongRow, void, undefined> {
  const cutter = new RowCutter(LONG_ROW_BYTES);
  const source = chunks[Symbol.asyncIterator]();
  let following: Uint8Array = Buffer.alloc(0);
  async function* restOf(missingBytes: number): AsyncGenerator<Uint8Array> {
    for (let missing = missingBytes; missing > 0; ) {
      const { value: chunk, done } = await source.next();
      if (done === true) throw new Error('The server ended its data within a row.');
      following = chunk.subarray(missing);
      yield chunk.subarray(0, missing);
      missing -= Math.min(missing, chunk.byteLength);
    }
  }
  try {
    for (;;) {
      let chunk = following;
      following = Buffer.alloc(0);
      if (chunk.byteLength === 0) {
        const { value, done } = await source.next();
        if (done === true) return;
        chunk = value;
      }
      const batch = cutter.add(chunk);
      if (batch !== null) yield batch;
      const long = cutter.takeLongRow();
      if (long !== null) yield { start: long.start, rest: restOf(long.missingBytes) };
    }
  } finally {
    await source.return?.();
  }
}

class RowCutter {
  #rest: Buffer[] = [];
  #restBytes = 0;
  readonly #longRowBytes: number;
  #neededBytes = COPY_HEADER.byteLength;
  #headerIsRead = false;
  #longRow: { readonly start: Buffer; readonly missingBytes: number } | null = null;

  /** @param longRowBytes beyond which an incomplete row is given by `takeLongRow`, once only its last field is incomplete */
  constructor(longRowBytes = Number.POSITIVE_INFINITY) {
    this.#longRowBytes = longRowBytes;
  }

  /** The long row that began in the last chunk. The next chunk is the one after the row. */
  takeLongRow(): { readonly start: Buffer; readonly missingBytes: number } | null {
    const row = this.#longRow;
    this.#longRow = null;
    return row;
  }

  /** @returns the rows that the chunk completes, in its memory or, with a row that began before, in new memory */
  add(chunk: Uint8Array): CutRows | null {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#restBytes > 0 || bytes.length < this.#neededBytes) {
      this.#keep(bytes);
      if (this.#restBytes < this.#neededBytes) return null;
      bytes = Buffer.concat(this.#rest);
      [this.#rest, this.#restBytes] = [[], 0];
    }
    let at = 0;
    if (!this.#headerIsRead) {
      at = COPY_HEADER.byteLength;
      this.#headerIsRead = true;
    }
    const starts: number[] = [];
    for (;;) {
      const end = endOfRow(bytes, at);
      if (end.bytes > bytes.length) {
        this.#neededBytes = end.bytes - at;
        if (end.lastField !== null && this.#neededBytes > this.#longRowBytes) {
          const startBytes = end.lastField + LONG_ROW_START_BYTES - at;
          if (at + startBytes > bytes.length) this.#neededBytes = Math.min(startBytes, this.#neededBytes);
          else {
            this.#longRow = { start: bytes.subarray(at), missingBytes: end.bytes - bytes.length };
            this.#neededBytes = 0;
            return starts.length === 0 ? null : { bytes, starts, end: at };
          }
        }
        break;
      }
      if (end.isLast) {
        this.#neededBytes = Number.POSITIVE_INFINITY;
        break;
      }
      starts.push(at);
      at = end.bytes;
    }
    if (Number.isFinite(this.#neededBytes) && at < bytes.length) {
      this.#keep(bytes.subarray(at));
    }
    return starts.length === 0 ? null : { bytes, starts, end: at };
  }

  #keep(bytes: Buffer): void {
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
  }
}

interface RowEnd {
  readonly bytes: number;
  readonly lastField: number | null;
  readonly isLast: boolean;
}

/** Where the row at `at` ends; as far as that is known, when it is not whole. */
function endOfRow(bytes: Buffer, at: number): RowEnd {
  let position = at + 2;
  if (position > bytes.length) return { bytes: position, lastField: null, isLast: false };
  const fields = bytes.readInt16BE(at);
  if (fields === -1) return { bytes: position, lastField: null, isLast: true };
  let lastField = position;
  for (let field = 0; field < fields; field += 1) {
    if (position + 4 > bytes.length) return { bytes: position + 4, lastField: null, isLast: false };
    const length = bytes.readInt32BE(position);
    lastField = position + 4;
    position = lastField + (length === NULL_LENGTH ? 0 : length);
  }
  return { bytes: position, lastField, isLast: false };
}

export class RowFields {
  #bytes: Buffer = Buffer.alloc(0);
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];

  read(bytes: Buffer, at: number): void {
    this.#bytes = bytes;
    const count = bytes.readInt16BE(at);
    let position = at + 2;
    for (let field = 0; field < count; field += 1) {
      const length = bytes.readInt32BE(position);
      position += 4;
      this.#starts[field] = length === NULL_LENGTH ? -1 : position;
      if (length !== NULL_LENGTH) position += length;
      this.#ends[field] = position;
    }
  }

  isNull(field: number): boolean {
    return this.#starts[field] === -1;
  }

  /** Where a field that is not null starts, and where it ends, in the row's bytes. */
  range(field: number): readonly [start: number, end: number] {
    return [this.#starts[field] as number, this.#ends[field] as number];
  }

  /** A view of a field that is not null: it keeps the memory of the whole batch. */
  view(field: number): Buffer {
    return this.#bytes.subarray(this.#starts[field], this.#ends[field]);
  }

  copy(field: number): Uint8Array {
    return Uint8Array.from(this.view(field));
  }

  int32(field: number): number {
    return this.#bytes.readInt32BE(this.#starts[field]);
  }

  int64(field: number): bigint {
    return this.#bytes.readBigInt64BE(this.#starts[field]);
  }

  text(field: number): string | null {
    const start = this.#starts[field] as number;
    return start === -1 ? null : this.#bytes.toString('utf8', start, this.#ends[field]);
  }
}

/** The rows of a whole COPY: one object, which has one row after another. Fields are views of chunks, or of new memory. */
export function* copiedRows(chunks: readonly Uint8Array[]): Generator<RowFields> {
  const cutter = new RowCutter();
  const fields = new RowFields();
  for (const chunk of chunks) {
    const { bytes, starts } = cutter.add(chunk) ?? NO_ROWS;
    for (const start of starts) {
      fields.read(bytes, start);
      yield fields;
    }
  }
}

const NO_ROWS: CutRows = { bytes: Buffer.alloc(0), starts: [], end: 0 };
