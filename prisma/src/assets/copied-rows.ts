/** Signature, flags, length of the header's extension (which servers leave empty). */
const HEADER_BYTES = 11 + 4 + 4;

/**
 * The rows of a whole COPY in PostgreSQL's binary format, each as its fields: views of the bytes, null for NULL.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export function* copiedRows(bytes: Buffer): Generator<(Buffer | null)[]> {
  let at = HEADER_BYTES;
  for (;;) {
    const count = bytes.readInt16BE(at);
    at += 2;
    if (count === -1) return;
    const fields: (Buffer | null)[] = [];
    for (let field = 0; field < count; field += 1) {
      const length = bytes.readInt32BE(at);
      at += 4;
      fields.push(length === -1 ? null : bytes.subarray(at, at + length));
      at += Math.max(0, length);
    }
    yield fields;
  }
}
