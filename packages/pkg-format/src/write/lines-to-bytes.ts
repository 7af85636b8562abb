/** UTF-16 code units of the longest piece. */
const PIECE_LENGTH = 64 * 1024;

/**
 * Encodes lines as UTF-8, each followed by a line feed, in chunks of some 64 KiB that do not depend on the batches. Cuts
 * a long line into pieces and lets the event loop run between them. A line may come in pieces itself; bytes are whole lines
 * with their line feeds, and are passed on as they are.
 */
export async function* linesToBytes(
  batches: AsyncIterable<readonly (string | Uint8Array | AsyncIterable<string | Uint8Array>)[]>,
): AsyncGenerator<Uint8Array> {
  let waiting = '';
  function* flush(): Generator<Uint8Array> {
    if (waiting !== '') yield ENCODER.encode(waiting);
    waiting = '';
  }
  for await (const batch of batches) {
    for (const line of batch) {
      if (typeof line === 'string' && line.length <= PIECE_LENGTH) {
        waiting += `${line}\n`;
        if (waiting.length >= PIECE_LENGTH) yield* flush();
        continue;
      }
      yield* flush();
      if (line instanceof Uint8Array) yield line;
      else {
        if (typeof line === 'string') yield* interruptible(encodeText(line));
        else for await (const piece of line) yield* typeof piece === 'string' ? encodeText(piece) : [piece];
        waiting = '\n';
      }
    }
  }
  yield* flush();
}

const ENCODER = new TextEncoder();

/** Bytes between two turns of the event loop: some 10 ms of hashing. */
const TURN_BYTES = 4 * 1024 * 1024;

/** Passes on the pieces of something large in memory; the event loop runs after every 4 MiB. */
export async function* interruptible(pieces: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for (const piece of pieces) {
    yield piece;
    bytes += piece.byteLength;
    if (bytes < TURN_BYTES) continue;
    bytes = 0;
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/**
 * Encodes a text as UTF-8 in pieces of at most 64 Ki code units, so that each step over a long text is short. Does not
 * split surrogate pairs.
 *
 * @example for (const piece of encodeText(text)) response.write(piece);
 */
export function* encodeText(text: string): Generator<Uint8Array> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE_LENGTH, text.length);
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end -= 1;
    yield ENCODER.encode(text.slice(start, end));
    start = end;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;

/**
 * Encodes well-formed pieces of a text as UTF-8 in chunks of some 64 Ki code units. A long piece is not joined with
 * others, which would copy it.
 */
export function* encodePieces(pieces: Iterable<string>): Generator<Uint8Array> {
  let waiting = '';
  for (const piece of pieces) {
    const isLong = piece.length > PIECE_LENGTH;
    if (!isLong) waiting += piece;
    if (isLong || waiting.length >= PIECE_LENGTH) {
      yield* encodeText(waiting);
      waiting = '';
    }
    if (isLong) yield* encodeText(piece);
  }
  yield* encodeText(waiting);
}
