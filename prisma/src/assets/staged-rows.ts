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
/** Rows are sent together from this size on, with which a connection sends a chunk without a copy. */
const CHUNK_BYTES = 128 * 1024;
/** Rows are written into memory of this size, which is used again. */
const BLOCK_BYTES = 2 * CHUNK_BYTES;
/** Field count; position and hash with their lengths; the length of the content. */
const HEAD_BYTES = 2 + (4 + 8) + (4 + 32) + 4;

/**
 * Rows of a table of staged assets in PostgreSQL's binary COPY format, in chunks that are valid until the next one is asked
 * for. Content that is large is sent as it is, without a copy.
 *
 * @see https://www.postgresql.org/docs/current/sql-copy.html "Binary Format"
 */
export async function* stagedRows(assets: readonly StagedAsset[]): AsyncGenerator<Uint8Array> {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let length = 0;
  for (const asset of assets) {
    const bytes = asset.location?.bytes ?? null;
    const parts = [headOf(asset, bytes), ...(bytes === null ? [] : [bytes]), tailOf(asset)];
    for (const part of parts) {
      if (length > 0 && (part.byteLength >= CHUNK_BYTES || length + part.byteLength > BLOCK_BYTES)) {
        yield block.subarray(0, length);
        length = 0;
      }
      if (part.byteLength >= CHUNK_BYTES) yield part;
      else {
        block.set(part, length);
        length += part.byteLength;
      }
    }
    if (length < CHUNK_BYTES) continue;
    yield block.subarray(0, length);
    length = 0;
  }
  if (length > 0) yield block.subarray(0, length);
}

function headOf({ position, sha256 }: StagedAsset, bytes: Uint8Array | null): Buffer {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeInt16BE(FIELDS, 0);
  head.writeInt32BE(8, 2);
  head.writeBigInt64BE(BigInt(position), 6);
  head.writeInt32BE(32, 14);
  head.write(sha256, 18, 'hex');
  head.writeInt32BE(bytes === null ? -1 : bytes.byteLength, 50);
  return head;
}

function tailOf({ byteLength, mimeType, location }: StagedAsset): Buffer {
  const texts = [location?.objectKey ?? null, mimeType];
  const textBytes = texts.reduce((sum, text) => sum + (text === null ? 0 : Buffer.byteLength(text)), 0);
  const tail = Buffer.allocUnsafe(4 + 8 + 4 + 4 + textBytes);
  tail.writeInt32BE(8, 0);
  tail.writeBigInt64BE(BigInt(byteLength), 4);
  let at = 12;
  for (const text of texts) {
    const written = text === null ? 0 : tail.write(text, at + 4);
    tail.writeInt32BE(text === null ? -1 : written, at);
    at += 4 + written;
  }
  return tail;
}
