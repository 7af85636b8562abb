/** UTF-16 code units of the longest piece. */
const PIECE_LENGTH = 64 * 1024;

/**
 * Encodes a text as UTF-8 in pieces of at most 64 Ki code units, so that each step over a long text is short. Does not
 * split surrogate pairs.
 *
 * @example for (const piece of encodeText(text)) response.write(piece);
 */
export function* encodeText(text: string): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE_LENGTH, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield encoder.encode(text.slice(start, end));
    start = end;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/**
 * Encodes well-formed pieces of a text as UTF-8 in chunks of some 64 Ki code units. A long piece is not joined with
 * others, which would copy it.
 */
export function* encodePieces(pieces: Iterable<string>): Generator<Uint8Array> {
  let waiting: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    if (piece.length > PIECE_LENGTH) {
      yield* encodeText(waiting.join(''));
      yield* encodeText(piece);
      waiting = [];
      length = 0;
      continue;
    }
    waiting.push(piece);
    length += piece.length;
    if (length < PIECE_LENGTH) continue;
    yield* encodeText(waiting.join(''));
    waiting = [];
    length = 0;
  }
  yield* encodeText(waiting.join(''));
}
