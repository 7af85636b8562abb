import { snappyUncompress, snappyUncompressor } from 'hysnappy';

/** Larger pages get separate memory: WebAssembly memory grows and never shrinks. */
const MAX_KEPT_BYTES = 64 * 1024 * 1024;

/**
 * Makes a decompressor of snappy blocks (the snappy format description), six times as fast as one in JavaScript. It
 * keeps its own memory from block to block, and compiles its code for the first one.
 *
 * The function that it returns throws an Error if a block is damaged, or has the wrong length.
 */
export function createSnappyInflater(): (input: Uint8Array, outputLength: number) => Uint8Array {
  let inflate: ReturnType<typeof snappyUncompressor> | undefined;
  return (input, outputLength) => {
    // The library trusts the given length: a shorter block would be followed by bytes of the one before.
    if (declaredLength(input) !== outputLength)
      throw new Error('a snappy block has not the length of its page');
    if (input.length + outputLength > MAX_KEPT_BYTES) return snappyUncompress(input, outputLength);
    inflate ??= snappyUncompressor();
    return inflate(input, outputLength);
  };
}

/** Length at the start of a block: a varint of at most 32 bits. */
function declaredLength(block: Uint8Array): number | null {
  let length = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = block[index];
    if (byte === undefined) return null;
    length += (byte & 0x7f) * 2 ** (7 * index);
    if (byte < 0x80) return length;
  }
  return null;
}
