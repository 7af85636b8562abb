import { StoreError } from '../database/errors.ts';
import { ASSET_PIECE_BYTES, type AssetStore } from './asset-store.ts';

/** Keeps content in the rows of `assets` themselves. */
export function createDatabaseAssetStore(): AssetStore {
  return {
    put: async ({ bytes }) => ({ bytes, objectKey: null }),

    async *read(query, sha256, range, signal) {
      let at = range?.start ?? 0;
      let end = range?.end ?? Number.POSITIVE_INFINITY;
      do {
        signal?.throwIfAborted();
        const length = Math.max(0, Math.min(ASSET_PIECE_BYTES, end - at));
        // The content is not compressed, so the server reads no more than the piece.
        const [row] = await query<{ readonly bytes: Buffer | null; readonly byteLength: string }>(
          `SELECT substring(bytes FROM $2::int FOR $3::int) AS bytes, byte_length AS "byteLength"
           FROM assets WHERE sha256 = decode($1, 'hex')`,
          [sha256, at + 1, length],
        );
        if (row === undefined || row.bytes === null) throw assetMissing(sha256);
        end = Math.min(end, Number(row.byteLength));
        if (row.bytes.byteLength > 0) yield row.bytes;
        at += length;
      } while (at < end);
    },

    async findMissing(query, sha256s) {
      const rows = await query<{ readonly sha256: string }>(
        `SELECT sha256 FROM unnest($1::text[]) AS wanted (sha256) WHERE NOT EXISTS (
           SELECT FROM assets WHERE assets.sha256 = decode(wanted.sha256, 'hex') AND bytes IS NOT NULL)`,
        [sha256s],
      );
      return rows.map(({ sha256 }) => sha256);
    },

    remove: async () => undefined,
  };
}

/** The error for an asset whose content cannot be found. */
export function assetMissing(sha256: string): StoreError {
  return new StoreError('asset_missing', `Cannot read the asset ${sha256}: its content is not stored.`);
}
