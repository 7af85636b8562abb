import type { AssetLocation } from './asset-store.ts';

/** An asset that is about to be stored. */
export interface StagedAsset {
  /** In the order of the dataset. */
  readonly position: number;
  readonly sha256: string;
  readonly byteLength: number;
  readonly mimeType: string | null;
  /** Null for an asset that the database has already. */
  readonly location: AssetLocation | null;
}

/** The statement for {@link stagedRows}. */
export const COPY_STAGED: string =
  'COPY pg_temp.staged_assets (position, sha256, bytes, byte_length, object_key, mime_type) FROM STDIN (FORMAT binary)';

const FIELDS = 6;
/** Rows are sent together up to this size. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Rows of a table of staged assets in PostgreSQL's binary COPY format. Content that is large is sent as it is, without a
 * copy.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export async function* stagedRows(assets: readonly StagedAsset[]): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for (const { position, sha256, byteLength, mimeType, location } of assets) {
    const bytes = location?.bytes ?? null;
    const count = Buffer.alloc(2);
    count.writeInt16BE(FIELDS);
    const head = [count, field(int64(position)), field(Buffer.from(sha256, 'hex'))];
    const tail = [
      field(int64(byteLength)),
      field(textOf(location?.objectKey ?? null)),
      field(textOf(mimeType)),
    ];
    parts.push(...head, lengthWord(bytes));
    if (bytes !== null && bytes.byteLength >= CHUNK_BYTES) {
      yield Buffer.concat(parts);
      yield bytes;
      [parts, length] = [[], 0];
    } else if (bytes !== null) {
      parts.push(bytes);
      length += bytes.byteLength;
    }
    parts.push(...tail);
    length += CHUNK_BYTES / 512;
    if (length < CHUNK_BYTES) continue;
    yield Buffer.concat(parts);
    [parts, length] = [[], 0];
  }
  if (parts.length > 0) yield Buffer.concat(parts);
}

function lengthWord(bytes: Uint8Array | null): Buffer {
  const word = Buffer.alloc(4);
  word.writeInt32BE(bytes === null ? -1 : bytes.byteLength);
  return word;
}

const field = (bytes: Uint8Array | null): Buffer =>
  bytes === null ? lengthWord(null) : Buffer.concat([lengthWord(bytes), bytes]);

const textOf = (text: string | null): Buffer | null => (text === null ? null : Buffer.from(text));

function int64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(value));
  return bytes;
}
