import { type LinkedFile, type LinkedParts, layoutLinkedItem } from '@svc/jsonl-v23/assets';
import { toCorrupt } from '../database/read-stored-json.ts';
import type { Reads } from '../postgres/read-query.ts';
import type { AssetStore } from './asset-store.ts';

interface ContentReader {
  readonly assets: AssetStore;
  readonly reads: Reads;
}

/**
 * The canonical text of a stored item with its files embedded, in pieces: memory holds one piece of a file, however many
 * and however large they are.
 */
export async function* itemText(reader: ContentReader, parts: LinkedParts, signal?: AbortSignal) {
  for (const piece of layout(parts)) {
    if (typeof piece === 'string') yield piece;
    else yield* base64Text(reader, piece, signal);
  }
}

async function* base64Text(
  { assets, reads }: ContentReader,
  { sha256, byteLength }: Pick<LinkedFile, 'sha256' | 'byteLength'>,
  signal?: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  let rest: Buffer = Buffer.alloc(0);
  let read = 0;
  for await (const bytes of assets.read(reads, sha256, { start: 0, end: byteLength }, signal)) {
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
