import type { LinkedParts } from '@svc/jsonl-v23/internal';
import type { StoreContext } from '../context.ts';
import { guarded, guardedStream, StoreError } from '../database/errors.ts';
import { isUuid } from '../database/values.ts';
import { createReadQuery, createReads } from '../postgres/read-query.ts';
import type { ByteRange } from './asset-store.ts';
import { collectAssets, collectObjects } from './collect-assets.ts';
import { itemText } from './item-text.ts';

export interface DatasetAsset {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly byteLength: number;
  /** Path of the dataset's first reference; null if it has none. */
  readonly mimeType: string | null;
}

/** The files that items embed, each once. Every method throws StoreError `unavailable`. */
export interface Assets {
  /**
   * The asset of a dataset; null when none of its items embeds such a file.
   *
   * @param sha256 64 lower-case hex digits
   * @param options `version`: the one whose items count; by default all
   */
  find(
    datasetId: string,
    sha256: string,
    options?: { readonly version?: number | undefined; readonly signal?: AbortSignal },
  ): Promise<DatasetAsset | null>;
  /** Reads an asset, or a range of it, in small pieces. @throws StoreError `asset_missing` if its content is gone */
  read(
    sha256: string,
    options?: { readonly range?: ByteRange; readonly signal?: AbortSignal },
  ): AsyncGenerator<Uint8Array, void, undefined>;
  /**
   * The canonical text of an item with its files embedded, in small pieces.
   *
   * @throws StoreError `corrupt` for damaged texts, or a file whose content is gone
   */
  itemText(parts: LinkedParts, signal?: AbortSignal): AsyncGenerator<string, void, undefined>;
  /** Those of these assets whose content is gone. @param sha256s each 64 lower-case hex digits */
  findMissing(sha256s: readonly string[], signal?: AbortSignal): Promise<ReadonlySet<string>>;
  /**
   * Removes the assets to which no dataset refers any more, and the objects of the asset store that no asset needs. Any
   * number of processes may do so concurrently, whatever is imported and deleted at the same time.
   */
  collect(signal?: AbortSignal): Promise<number>;
}

const SHA256 = /^[0-9a-f]{64}$/;

export function createAssets({ pool, assets }: Pick<StoreContext, 'pool' | 'assets'>): Assets {
  return {
    ...guarded({
      async find(datasetId, sha256, { version, signal } = {}) {
        if (!isUuid(datasetId) || !SHA256.test(sha256)) return null;
        const query = createReadQuery(pool, signal);
        const [asset] = await query<DatasetAsset>(FIND_ASSET, [datasetId, sha256, version ?? null]);
        return asset ?? null;
      },

      async collect(signal) {
        const removed = await collectAssets(pool, signal);
        await collectObjects(pool, assets, signal);
        return removed;
      },

      async findMissing(sha256s, signal) {
        if (sha256s.length === 0) return new Set();
        return new Set(await assets.findMissing(createReadQuery(pool, signal), sha256s, signal));
      },
    } satisfies Omit<Assets, 'read' | 'itemText'>),

    read: (sha256, { range, signal } = {}) =>
      guardedStream(assets.read(createReads(pool, signal), sha256, range, signal)),

    itemText: (parts, signal) =>
      guardedStream(itemText({ assets, reads: createReads(pool, signal) }, parts, signal)),
  };
}

const FIND_ASSET = `SELECT $2::text AS sha256, a.byte_length::float8 AS "byteLength", d.mime_type AS "mimeType"
  FROM dataset_assets d JOIN assets a ON a.sha256 = d.sha256
  WHERE d.dataset_id = $1 AND d.sha256 = decode($2, 'hex')
    AND ($3::int IS NULL OR d.since <= $3 AND (d.until IS NULL OR d.until > $3))
  ORDER BY d.since DESC LIMIT 1`;

export function assetNotFound(): StoreError {
  return new StoreError('asset_not_found', 'The dataset has no asset of this hash.');
}
