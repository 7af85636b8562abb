/** Signature, flags, length of the header's extension (which servers leave empty). */
const HEADER_BYTES = 11 + 4 + 4;

/**
 * The rows of a whole COPY in PostgreSQL's binary format, each as its fields: null for NULL, else a view of a chunk, or a
 * copy of what is in several.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export function* copiedRows(chunks: readonly Buffer[]): Generator<(Buffer | null)[]> {
  const cursor = new Cursor(chunks);
  cursor.take(HEADER_BYTES);
  for (;;) {
    const count = cursor.take(2).readInt16BE();
    if (count === -1) return;
    const fields: (Buffer | null)[] = [];
    for (let field = 0; field < count; field += 1) {
      const length = cursor.take(4).readInt32BE();
      fields.push(length === -1 ? null : cursor.take(length));
    }
    yield fields;
  }
}

/** A content and its length, as a COPY of one row gives them. */
export interface CopiedContent {
  readonly byteLength: number;
  /** Views of the chunks, which nothing keeps once they have been taken. */
  readonly pieces: Iterable<Buffer>;
}

/** The content of a COPY of at most one row: its length as a `bigint`, and bytes. Null without a row, or without bytes. */
export function copiedContent(chunks: readonly Buffer[]): CopiedContent | null {
  const cursor = new Cursor(chunks);
  cursor.take(HEADER_BYTES);
  if (cursor.take(2).readInt16BE() === -1) return null;
  cursor.take(4);
  const byteLength = Number(cursor.take(8).readBigInt64BE());
  const length = cursor.take(4).readInt32BE();
  return length === -1 ? null : { byteLength, pieces: cursor.pieces(length) };
}

/** Reads chunks as if they were one. */
class Cursor {
  readonly #chunks: (Buffer | undefined)[];
  #index = 0;
  #at = 0;

  constructor(chunks: readonly Buffer[]) {
    this.#chunks = [...chunks];
  }

  take(byteLength: number): Buffer {
    const chunk = this.#chunks[this.#index];
    if (chunk !== undefined && chunk.byteLength - this.#at >= byteLength) {
      this.#at += byteLength;
      return chunk.subarray(this.#at - byteLength, this.#at);
    }
    return this.#gather(byteLength);
  }

  /** The next bytes, as they are in the chunks. */
  *pieces(byteLength: number): Generator<Buffer> {
    for (let left = byteLength; left > 0; ) {
      const chunk = this.#chunks[this.#index];
      if (chunk === undefined) throw new Error('A COPY ended within a row.');
      const piece = chunk.subarray(this.#at, this.#at + left);
      left -= piece.byteLength;
      this.#chunks[this.#index] = undefined;
      this.#index += 1;
      this.#at = 0;
      if (piece.byteLength > 0) yield piece;
    }
  }

  #gather(byteLength: number): Buffer {
    const bytes = Buffer.allocUnsafe(byteLength);
    let filled = 0;
    while (filled < byteLength) {
      const chunk = this.#chunks[this.#index];
      if (chunk === undefined) throw new Error('A COPY ended within a row.');
      const copied = chunk.copy(bytes, filled, this.#at);
      filled += copied;
      this.#at += copied;
      if (this.#at < chunk.byteLength) continue;
      this.#index += 1;
      this.#at = 0;
    }
    return bytes;
  }
}
