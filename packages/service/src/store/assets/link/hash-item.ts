import { createHash, type Hash, hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

interface HashedFile {
  readonly content: { readonly sha256: string; readonly bytes: Uint8Array };
  readonly base64: string | null;
}

/** From this size on, the hash after the text of a file is kept for the next item. */
const SHARED_BYTES = 256 * 1024;
/** Bytes that become base64 text together: a multiple of 3. */
const PIECE_BYTES = 48 * 1024;

/**
 * The hash of the canonical text of an item.
 *
 * @param pieces the text, and the files whose base64 text belongs between; that of a large file is made in pieces, so that
 * memory never holds the whole of it
 */
export function hashOf(pieces: readonly (string | HashedFile)[], states: HashStates | null): Uint8Array {
  let state = createHash('sha256');
  for (const piece of pieces) {
    if (typeof piece === 'string') state.update(piece);
    else state = withBase64(state, piece, states);
  }
  return state.digest();
}

/**
 * The hash after the base64 text of an entry; for a large file, that of an earlier item whose text was the same so far. Many
 * items that begin alike and embed one file are common: its text is hashed once.
 */
function withBase64(state: Hash, entry: HashedFile, states: HashStates | null): Hash {
  const { sha256, bytes } = entry.content;
  if (states === null || bytes.byteLength < SHARED_BYTES) {
    updateBase64(state, entry);
    return state;
  }
  const key = `${state.copy().digest('hex')} ${sha256}`;
  const known = states.afterTexts.get(key);
  if (known !== undefined) return known.copy();
  updateBase64(state, entry);
  states.afterTexts.set(key, state.copy());
  return state;
}

function updateBase64(state: Hash, { base64, content: { bytes } }: HashedFile): void {
  if (base64 !== null) {
    state.update(base64, 'latin1');
    return;
  }
  const { buffer, byteOffset, byteLength } = bytes;
  const view = Buffer.from(buffer, byteOffset, byteLength);
  for (let at = 0; at < byteLength; at += PIECE_BYTES) {
    state.update(view.toString('base64', at, at + PIECE_BYTES), 'latin1');
  }
}

const MAX_STATES = 16;

export interface HashStates {
  /** States after texts that come again, the last ones that were used. Go on from a copy, and keep a copy. */
  readonly afterTexts: LRUCache<string, Hash>;
  readonly files: WeakMap<Uint8Array, string>;
}

export function createHashStates(): HashStates {
  return { afterTexts: new LRUCache({ max: MAX_STATES }), files: new WeakMap() };
}

export function fileHash(bytes: Uint8Array, states: HashStates | null): string {
  const known = states?.files.get(bytes) ?? hash('sha256', bytes, 'hex');
  states?.files.set(bytes, known);
  return known;
}
