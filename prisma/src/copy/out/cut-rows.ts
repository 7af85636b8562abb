/** Whole rows, one after another in a buffer. */
export interface RowBatch {
  readonly bytes: Buffer;
  /** Where each row starts; it ends where the next one starts. */
  readonly starts: readonly number[];
  /** Where the last one ends. */
  readonly end: number;
}

/** Signature, flags, length of the header's extension (which servers leave empty). */
const HEADER_BYTES = 11 + 4 + 4;
const FIELDS = 8;

/**
 * Cuts rows of 8 fields in PostgreSQL's binary COPY format out of what the server sends. Yields the complete rows of each
 * chunk as one batch; holds one incomplete row.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export async function* cutRows(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RowBatch, void, undefined> {
  const rest = new RowBuffer();
  let neededBytes = HEADER_BYTES;
  let headerIsRead = false;
  for await (const chunk of chunks) {
    let bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (rest.byteLength > 0 || bytes.length < neededBytes) {
      rest.append(bytes, neededBytes);
      if (rest.byteLength < neededBytes) continue;
      bytes = rest.take();
    }
    let at = 0;
    if (!headerIsRead) {
      at = HEADER_BYTES;
      headerIsRead = true;
    }
    const starts: number[] = [];
    for (;;) {
      const end = endOfRow(bytes, at);
      if (end.bytes > bytes.length) {
        neededBytes = end.bytes - at;
        break;
      }
      if (end.isLast) {
        neededBytes = Number.POSITIVE_INFINITY;
        break;
      }
      starts.push(at);
      at = end.bytes;
    }
    if (Number.isFinite(neededBytes) && at < bytes.length) rest.append(bytes.subarray(at), neededBytes);
    if (starts.length > 0) yield { bytes, starts, end: at };
  }
}

/** The beginning of a row. Memory for all of it is taken once its length is known. */
class RowBuffer {
  #bytes = Buffer.allocUnsafeSlow(0);
  byteLength = 0;

  /** @param neededBytes of the row, as far as that is known */
  append(chunk: Buffer, neededBytes: number): void {
    const length = this.byteLength + chunk.length;
    if (length > this.#bytes.length) {
      // the chunk that completes the row begins the next one
      const capacity = Number.isFinite(neededBytes) ? Math.max(length, neededBytes + chunk.length) : length;
      const larger = Buffer.allocUnsafeSlow(capacity);
      this.#bytes.copy(larger, 0, 0, this.byteLength);
      this.#bytes = larger;
    }
    chunk.copy(this.#bytes, this.byteLength);
    this.byteLength = length;
  }

  /** Gives the bytes away. */
  take(): Buffer {
    const bytes = this.#bytes.subarray(0, this.byteLength);
    this.#bytes = Buffer.allocUnsafeSlow(0);
    this.byteLength = 0;
    return bytes;
  }
}

/** Where the row at `at` ends; as far as that is known, when it is not whole. */
function endOfRow(bytes: Buffer, at: number): { bytes: number; isLast: boolean } {
  let position = at + 2;
  if (position > bytes.length) return { bytes: position, isLast: false };
  if (bytes.readInt16BE(at) === -1) return { bytes: position, isLast: true };
  for (let field = 0; field < FIELDS; field += 1) {
    if (position + 4 > bytes.length) return { bytes: position + 4, isLast: false };
    const length = bytes.readInt32BE(position);
    position += 4 + (length === -1 ? 0 : length);
  }
  return { bytes: position, isLast: false };
}
