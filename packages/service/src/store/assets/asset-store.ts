import { copiedRows } from '../database/copy-format.ts';
import { StoreError } from '../database/errors.ts';
import type { ReadQuery, Reads } from '../postgres/read-query.ts';

export interface AssetContent {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** What the row of an asset holds of its content: the content itself, or the key of an object. */
export type AssetLocation =
  | { readonly bytes: Uint8Array; readonly objectKey: null }
  | { readonly bytes: null; readonly objectKey: string };

/** Bytes from `start` up to `end`, which is not one of them. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the content of assets is kept. Rows of `assets` name it, in the database in every case. Methods throw StoreError
 * `unavailable`, `asset_missing`, and the signal's reason.
 */
export interface AssetStore {
  /**
   * Stores content, before the transaction that refers to it commits. Every call makes another object, so that the removal
   * of one cannot take the content of an asset that is imported again.
   *
   * @param transactionId number of that transaction: the object is removed if it does not commit
   * @returns what the row has to hold
   */
  put(content: AssetContent, transactionId: string, signal?: AbortSignal): Promise<AssetLocation>;
  /** Reads content in pieces of at most {@link ASSET_PIECE_BYTES}, each of them when it is asked for. */
  read(
    reads: Reads,
    sha256: string,
    range?: ByteRange,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /** Reads small contents together; deleted ones are absent. */
  readSome(reads: Reads, sha256s: readonly string[], signal?: AbortSignal): Promise<Map<string, Uint8Array>>;
  /** Those of these assets whose content is gone: of an object, only asking the storage tells. */
  findMissing(query: ReadQuery, sha256s: readonly string[], signal?: AbortSignal): Promise<readonly string[]>;
  /** Removes objects whose rows are gone. Removing one that is not there is not an error. @throws StoreError `unavailable` */
  remove(objectKeys: readonly string[]): Promise<void>;
}

/** Bytes of one read, which memory holds for each reader: hundreds of items of a run may be sent at a time. */
export const ASSET_PIECE_BYTES: number = 384 * 1024;

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

function assetMissing(sha256: string): StoreError {
  return new StoreError('asset_missing', `Cannot read the asset ${sha256}: its content is not stored.`);
}

/** A hash as SQL: COPY takes no parameters. @throws StoreError `asset_missing` for a text of another form */
function literal(sha256: string): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw assetMissing(sha256);
  return `'\\x${sha256}'::bytea`;
}
