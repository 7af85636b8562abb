import { type LinkedFile, type LinkedParts, layoutLinkedItem } from '@svc/jsonl-v23/internal';
import type { ReadQuery } from '../database/read-query.ts';
import { toCorrupt } from '../database/read-stored-json.ts';
import { ASSET_PIECE_BYTES, type AssetStore } from './asset-store.ts';

/** The items of a batch that are read again from one content, while it is small. */
const MAX_KEPT_BYTES = ASSET_PIECE_BYTES;

/**
 * The canonical text of a stored item with its files embedded, in pieces: memory holds one piece of a file, however many
 * and however large they are.
 *
 * @throws StoreError `corrupt` for damaged texts, `asset_missing` for a file that is not stored, `unavailable`; the signal's reason
 */
export async function* itemText(
  { assets, query }: { readonly assets: AssetStore; readonly query: ReadQuery },
  parts: LinkedParts,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  // One small file is often in an item more than once.
  let kept: { readonly sha256: string; readonly base64: string } | undefined;
  for (const piece of layout(parts)) {
    if (typeof piece === 'string') yield piece;
    else if (kept?.sha256 === piece.sha256) yield kept.base64;
    else {
      for await (const text of base64Text({ assets, query }, piece, signal)) {
        if (piece.byteLength <= MAX_KEPT_BYTES) kept = { sha256: piece.sha256, base64: text };
        yield text;
      }
    }
  }
}

/** The base64 text of a file in pieces. */
export async function* base64Text(
  { assets, query }: { readonly assets: AssetStore; readonly query: ReadQuery },
  { sha256, byteLength }: Pick<LinkedFile, 'sha256' | 'byteLength'>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let read = 0;
  for await (const bytes of assets.read(query, sha256, { start: 0, end: byteLength }, signal)) {
    read += bytes.byteLength;
    const piece =
      rest.byteLength === 0
        ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : Buffer.concat([rest, bytes]);
    // Only the last text may be padded.
    const whole = read === byteLength ? piece.byteLength : piece.byteLength - (piece.byteLength % 3);
    if (whole > 0) yield piece.toString('base64', 0, whole);
    rest = piece.subarray(whole);
  }
}

function layout(parts: LinkedParts): (string | LinkedFile)[] {
  try {
    return layoutLinkedItem(parts);
  } catch (error) {
    throw toCorrupt(error);
  }
}
