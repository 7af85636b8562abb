import { rowParts } from '../database/copy-format.ts';
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

/** Rows are sent together from this size on: a connection sends such a chunk without a copy. */
const CHUNK_BYTES = 128 * 1024;
/** Rows are written into memory of this size, which is used again. */
const BLOCK_BYTES = 2 * CHUNK_BYTES;

/**
 * Rows of a table of staged assets for a binary COPY, in chunks that are valid until the next one is asked for. Content
 * that is large is sent as it is, without a copy.
 */
export async function* stagedRows(assets: readonly StagedAsset[]): AsyncGenerator<Uint8Array> {
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let length = 0;
  for (const asset of assets) {
    const { position, sha256, byteLength, mimeType, location } = asset;
    const hash = Buffer.from(sha256, 'hex');
    const { bytes = null, objectKey = null } = location ?? {};
    const values = [BigInt(position), hash, bytes, BigInt(byteLength), objectKey, mimeType];
    for (const part of rowParts(values)) {
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
