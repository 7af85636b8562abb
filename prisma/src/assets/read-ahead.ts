import type { ReadQuery } from '../database/read-query.ts';
import type { AssetStore } from './asset-store.ts';

/** An asset that is read. */
interface WantedAsset {
  readonly sha256: string;
  readonly byteLength: number;
}

/** Assets up to this size are read together. */
const SMALL_BYTES = 64 * 1024;
/** So many bytes of them, one at least. */
const AHEAD_BYTES = 1024 * 1024;

/** Reads an asset, and perhaps some of those that follow. */
export type AssetReader = (
  asset: WantedAsset,
  following: readonly WantedAsset[],
) => AsyncGenerator<Uint8Array, void, undefined>;

/**
 * Reads one asset after another: small ones together with the small ones that follow, so that many of them take few
 * queries. Holds 1 MiB.
 */
export function createAssetReader({
  assets,
  query,
  signal,
}: {
  readonly assets: AssetStore;
  readonly query: ReadQuery;
  readonly signal: AbortSignal | undefined;
}): AssetReader {
  let ahead = new Map<string, Uint8Array>();

  async function readAhead(wanted: readonly WantedAsset[]): Promise<void> {
    const hashes: string[] = [];
    let bytes = 0;
    for (const { sha256, byteLength } of wanted) {
      if (byteLength > SMALL_BYTES) continue;
      bytes += byteLength;
      if (bytes > AHEAD_BYTES) break;
      hashes.push(sha256);
    }
    const rows = await query<{ readonly sha256: string; readonly bytes: Buffer }>(
      `SELECT encode(sha256, 'hex') AS sha256, bytes FROM assets
       WHERE sha256 IN (SELECT decode(hash, 'hex') FROM unnest($1::text[]) AS hash) AND bytes IS NOT NULL`,
      [hashes],
    );
    ahead = new Map(rows.map(({ sha256, bytes }) => [sha256, bytes]));
  }

  return async function* read(asset, following) {
    if (asset.byteLength <= SMALL_BYTES) {
      if (!ahead.has(asset.sha256)) await readAhead([asset, ...following]);
      const bytes = ahead.get(asset.sha256);
      ahead.delete(asset.sha256);
      if (bytes !== undefined) {
        yield bytes;
        return;
      }
    }
    // An object of the asset store, a large asset, or one that is gone.
    yield* assets.read(query, asset.sha256, undefined, signal);
  };
}
