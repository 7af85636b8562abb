import type { Reads } from '../postgres/read-query.ts';
import type { AssetStore } from './asset-store.ts';

/** An asset that is read. */
interface WantedAsset {
  readonly sha256: string;
  readonly byteLength: number;
}

/** Assets up to this size are read together. */
const SMALL_BYTES = 64 * 1024;
/** Limits of what is read ahead, in bytes and in assets; at least one is read. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_COUNT = 256;

/** Reads an asset, and perhaps some of the next ones, which are then returned from memory. */
export type AssetReader = (
  asset: WantedAsset,
  following: Iterable<WantedAsset>,
) => Uint8Array | AsyncGenerator<Uint8Array, void, undefined>;

type Contents = Map<string, Uint8Array>;

/**
 * Reads one asset after another: small ones together with the small ones that follow, so that many of them take few
 * queries. The next of them are read while the first are used. Holds 2 MiB.
 */
export function createAssetReader({
  assets,
  reads,
  signal,
}: {
  readonly assets: AssetStore;
  readonly reads: Reads;
  readonly signal: AbortSignal | undefined;
}): AssetReader {
  let contents: Contents = new Map();
  let coming: { readonly hashes: ReadonlySet<string>; readonly contents: Promise<Contents> } | undefined;

  /** Takes the batch with an asset, and begins the one after it. */
  async function turn(asset: WantedAsset, following: Iterable<WantedAsset>): Promise<Contents> {
    const begun = coming?.hashes.has(asset.sha256) === true ? coming : undefined;
    const [first, next] = batches(asset, following, begun?.hashes);
    const taken = begun?.contents ?? assets.readSome(reads, first, signal);
    coming = undefined;
    const found = await taken;
    if (next.length > 0) {
      const reading = assets.readSome(reads, next, signal);
      // Its error is thrown when its turn comes.
      reading.catch(() => undefined);
      coming = { hashes: new Set(next), contents: reading };
    }
    return found;
  }

  function take(sha256: string): Uint8Array | undefined {
    const bytes = contents.get(sha256);
    contents.delete(sha256);
    return bytes;
  }

  async function* read(
    asset: WantedAsset,
    following: Iterable<WantedAsset>,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    if (asset.byteLength <= SMALL_BYTES) {
      contents = await turn(asset, following);
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

/** The hashes of two batches of small assets. @param begun of the first one, if it is being read */
function batches(
  asset: WantedAsset,
  following: Iterable<WantedAsset>,
  begun: ReadonlySet<string> | undefined,
): [first: string[], next: string[]] {
  const found: [string[], string[]] = [[asset.sha256], []];
  let batch = 0;
  let bytes = asset.byteLength;
  for (const { sha256, byteLength } of following) {
    if (byteLength > SMALL_BYTES) continue;
    const isFirst =
      begun === undefined ? batch === 0 && fits(found[0], bytes + byteLength) : begun.has(sha256);
    if (!isFirst && batch === 0) [batch, bytes] = [1, 0];
    bytes += byteLength;
    if (batch === 1 && !fits(found[1], bytes)) break;
    found[batch]?.push(sha256);
  }
  return found;
}

const fits = (hashes: readonly string[], bytes: number): boolean =>
  hashes.length < BATCH_COUNT && bytes <= BATCH_BYTES;

/** The whole of what an {@link AssetReader} gives. */
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
