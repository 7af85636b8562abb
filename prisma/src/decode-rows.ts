/** A row as an export reads it. */
export interface DecodedRow {
  readonly sectionOrderIndex: number;
  readonly orderIndex: number;
  readonly itemHash: Uint8Array;
  /** null where the item is larger than one may be */
  readonly payload: string | null;
  readonly answer: string | null;
  readonly checker: string | null;
  readonly assets: string | null;
}

/** Signature, flags, length of the header's extension (which our servers leave empty). */
const HEADER_BYTES = 11 + 4 + 4;
const FIELDS = 7;

/**
 * Decodes rows of (section order, item order, hash, payload, answer, checker, assets) in PostgreSQL's binary COPY
 * format. Gives the whole rows of each chunk as one batch; holds one row that is not whole yet.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export async function* decodeRows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<DecodedRow[], void, undefined> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let neededBytes = HEADER_BYTES;
  let headerIsRead = false;
  for await (const chunk of chunks) {
    rest.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    restBytes += chunk.byteLength;
    // A large row arrives in many chunks: joined once, when it is whole.
    if (restBytes < neededBytes) continue;
    const bytes = rest.length === 1 ? (rest[0] as Buffer) : Buffer.concat(rest, restBytes);
    let at = 0;
    if (!headerIsRead) {
      at = HEADER_BYTES;
      headerIsRead = true;
    }
    const rows: DecodedRow[] = [];
    for (;;) {
      const end = endOfRow(bytes, at);
      if (end.bytes > bytes.length) {
        neededBytes = end.bytes - at;
        break;
      }
      if (end.isLast) {
        at = end.bytes;
        neededBytes = Number.POSITIVE_INFINITY;
        break;
      }
      rows.push(readRow(bytes, at));
      at = end.bytes;
    }
    rest = at === bytes.length ? [] : [bytes.subarray(at)];
    restBytes = bytes.length - at;
    if (rows.length > 0) yield rows;
  }
}

/** Where the row at `at` ends; as far as that is known, when it is not whole. */
function endOfRow(bytes: Buffer, at: number): { bytes: number; isLast: boolean } {
  let position = at + 2;
  if (position > bytes.length) return { bytes: position, isLast: false };
  if (bytes.readInt16BE(at) === -1) return { bytes: position, isLast: true };
  for (let field = 0; field < FIELDS; field++) {
    if (position + 4 > bytes.length) return { bytes: position + 4, isLast: false };
    const length = bytes.readInt32BE(position);
    position += 4 + (length === -1 ? 0 : length);
  }
  return { bytes: position, isLast: false };
}

function readRow(bytes: Buffer, at: number): DecodedRow {
  let position = at + 2;
  const field = (): Buffer | null => {
    const length = bytes.readInt32BE(position);
    position += 4;
    if (length === -1) return null;
    const value = bytes.subarray(position, position + length);
    position += length;
    return value;
  };
  const text = (): string | null => field()?.toString('utf8') ?? null;
  const sectionOrderIndex = field()?.readInt32BE(0) ?? 0;
  const orderIndex = field()?.readInt32BE(0) ?? 0;
  // a copy: a view would keep the whole chunk alive
  const itemHash = Uint8Array.from(field() ?? []);
  const payload = text();
  return {
    sectionOrderIndex,
    orderIndex,
    itemHash,
    payload,
    answer: text(),
    checker: text(),
    assets: text(),
  };
}
