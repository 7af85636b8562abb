import type { ReadQuery, Reads } from '../postgres/read-query.ts';

/** Content whose hash is known. */
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

/** Where the content of assets is kept. Rows of `assets` name it, in the database in every case. */
export interface AssetStore {
  /**
   * Stores content, before the transaction that refers to it commits. Every call makes another object, so that the removal
   * of one cannot take the content of an asset that is imported again.
   *
   * @param transactionId number of that transaction: the object is removed if it does not commit
   * @returns what the row has to hold
   * @throws StoreError `unavailable`; the signal's reason
   */
  put(content: AssetContent, transactionId: string, signal?: AbortSignal): Promise<AssetLocation>;
  /**
   * Reads content in pieces of at most {@link ASSET_PIECE_BYTES}, each of them when it is asked for.
   *
   * @param reads the row of the asset
   * @param sha256 64 hex digits
   * @param range within the content; all of it without
   * @throws StoreError `asset_missing` if the content is gone, `unavailable`; the signal's reason
   */
  read(
    reads: Reads,
    sha256: string,
    range?: ByteRange,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * Reads small contents together; deleted ones are absent.
   *
   * @param sha256s each 64 lower-case hex digits
   * @throws StoreError `unavailable`; the signal's reason
   */
  readSome(reads: Reads, sha256s: readonly string[], signal?: AbortSignal): Promise<Map<string, Uint8Array>>;
  /**
   * Those of these assets whose content is gone: of an object, only asking the storage tells.
   *
   * @param query reads the rows of the assets
   * @throws StoreError `unavailable`; the signal's reason
   */
  findMissing(query: ReadQuery, sha256s: readonly string[], signal?: AbortSignal): Promise<readonly string[]>;
  /** Removes objects whose rows are gone. Removing one that is not there is not an error. @throws StoreError `unavailable` */
  remove(objectKeys: readonly string[]): Promise<void>;
}

/** Bytes of one read, which memory holds for each reader: hundreds of items of a run may be sent at a time. */
export const ASSET_PIECE_BYTES: number = 384 * 1024;
