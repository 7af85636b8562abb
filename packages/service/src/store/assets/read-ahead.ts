import type { Reads } from '../postgres/read-query.ts';
import type { AssetStore } from './asset-store.ts';

interface WantedAsset {
  readonly sha256: string;
  readonly byteLength: number;
}

const SMALL_BYTES = 64 * 1024;
const BATCH_BYTES = 1024 * 1024;
const BATCH_COUNT = 256;

/** Reads an asset, and perhaps some of the next ones, which are then returned from memory. */
export type AssetReader = (
  asset: WantedAsset,
  following: Iterable<WantedAsset>,
) => Uint8Array | AsyncGenerator<Uint8Array, void, undefined>;

/** Reads one asset after another, small ones together, so that many of them take few queries. Holds 1 MiB. */
export function createAssetReader({
  assets,
  reads,
  signal,
}: {
  readonly assets: AssetStore;
  readonly reads: Reads;
  readonly signal: AbortSignal | undefined;
}): AssetReader {
  let contents = new Map<string, Uint8Array>();

  function take(sha256: string): Uint8Array | undefined {
    const bytes = contents.get(sha256);
    contents.delete(sha256);
    return bytes;
  }

  async function* read(asset: WantedAsset, following: Iterable<WantedAsset>) {
    if (asset.byteLength <= SMALL_BYTES) {
      contents = await assets.readSome(reads, batchOf(asset, following), signal);
      const bytes = take(asset.sha256);
      if (bytes !== undefined) {
        yield bytes;
        return;
      }
    }
    // A large asset, or one that is gone.
    yield* assets.read(reads, asset.sha256, undefined, signal);
  }

  return (asset, following) => take(asset.sha256) ?? read(asset, following);
}

function batchOf({ sha256: first, byteLength }: WantedAsset, following: Iterable<WantedAsset>): string[] {
  const hashes = [first];
  let bytes = byteLength;
  for (const asset of following) {
    if (asset.byteLength > SMALL_BYTES) continue;
    bytes += asset.byteLength;
    if (hashes.length === BATCH_COUNT || bytes > BATCH_BYTES) break;
    hashes.push(asset.sha256);
  }
  return hashes;
}

export async function wholeOf(content: ReturnType<AssetReader>, byteLength: number): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content;
  const bytes = new Uint8Array(byteLength);
  let at = 0;
  for await (const piece of content) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return bytes;
}
