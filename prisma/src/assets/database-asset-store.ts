import { copiedRows } from '../database/copy-format.ts';
import { StoreError } from '../database/errors.ts';
import { ASSET_PIECE_BYTES, type AssetStore } from './asset-store.ts';

/** Keeps content in the rows of `assets` themselves. */
export function createDatabaseAssetStore(): AssetStore {
  return {
    put: async ({ bytes }) => ({ bytes, objectKey: null }),

    async *read({ copy }, sha256, range, signal) {
      let at = range?.start ?? 0;
      let end = range?.end ?? Number.POSITIVE_INFINITY;
      do {
        signal?.throwIfAborted();
        const length = Math.max(0, Math.min(ASSET_PIECE_BYTES, end - at));
        // The content is not compressed, so the server reads no more than this.
        const [row] = copiedRows(
          await copy(`COPY (SELECT byte_length, substring(bytes FROM ${at + 1} FOR ${length}) FROM assets
            WHERE sha256 = ${literal(sha256)}) TO STDOUT (FORMAT binary)`),
        );
        if (row === undefined || row.isNull(1)) throw assetMissing(sha256);
        end = Math.min(end, Number(row.int64(0)));
        const piece = row.view(1);
        if (piece.byteLength > 0) yield piece;
        at += length;
      } while (at < end);
    },

    async readSome({ copy }, sha256s) {
      const contents = new Map<string, Uint8Array>();
      if (sha256s.length === 0) return contents;
      const rows = await copy(`COPY (SELECT sha256, bytes FROM assets
        WHERE sha256 IN (${sha256s.map(literal).join(',')}) AND bytes IS NOT NULL) TO STDOUT (FORMAT binary)`);
      for (const row of copiedRows(rows)) contents.set(row.view(0).toString('hex'), row.view(1));
      return contents;
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
function assetMissing(sha256: string): StoreError {
  return new StoreError('asset_missing', `Cannot read the asset ${sha256}: its content is not stored.`);
}

/** A hash as SQL: COPY takes no parameters. @throws StoreError `asset_missing` for a text of another form */
function literal(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw assetMissing(sha256);
  return `'\\x${sha256}'::bytea`;
}
