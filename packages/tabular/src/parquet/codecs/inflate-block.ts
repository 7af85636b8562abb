/** Decompresses a page to exactly the given size. */
export type Inflate = (page: Uint8Array, outputLength: number) => Uint8Array | Promise<Uint8Array>;

/** Shortest copy that a sequence describes; the token holds the excess over it. */
const MIN_MATCH = 4;

/** `LZ4_RAW` (LZ4 Block Format Description). @throws RangeError if damaged or not of `outputLength` bytes */
export function inflateLz4Block(input: Uint8Array, outputLength: number): Uint8Array {
  const output = new Uint8Array(outputLength);
  let at = 0;
  let to = 0;
  const next = (): number => {
    if (at >= input.length) throw new RangeError('LZ4 block ends early');
    return input[at++] as number;
  };
  /** A length of 15 continues in further bytes as long as they are 255. */
  const length = (nibble: number): number => {
    let total = nibble;
    for (let more = nibble === 15 ? 255 : 0; more === 255; total += more) more = next();
    return total;
  };
  while (at < input.length) {
    const token = next();
    const literals = length(token >> 4);
    if (at + literals > input.length || to + literals > outputLength)
      throw new RangeError('LZ4 block is too long');
    output.set(input.subarray(at, at + literals), to);
    at += literals;
    to += literals;
    // The last sequence has literals only.
    if (at === input.length) break;
    const offset = next() | (next() << 8);
    const copied = length(token & 15) + MIN_MATCH;
    if (offset === 0 || offset > to || to + copied > outputLength)
      throw new RangeError('LZ4 block is damaged');
    copyBack(output, to, offset, copied);
    to += copied;
  }
  if (to !== outputLength) throw new RangeError(`LZ4 block has ${to} bytes and not ${outputLength}`);
  return output;
}

/** Copies bytes that were just written. Source and target may overlap, which repeats them. */
function copyBack(output: Uint8Array, to: number, offset: number, length: number): void {
  if (offset >= length) output.copyWithin(to, to - offset, to - offset + length);
  else for (let index = to; index < to + length; index += 1) output[index] = output[index - offset] as number;
}

/** Parquet's deprecated `LZ4`: blocks in Hadoop's frames, each behind two big-endian lengths, or one bare block. */
export function inflateHadoopLz4(input: Uint8Array, outputLength: number): Uint8Array {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  const output = new Uint8Array(outputLength);
  let at = 0;
  let to = 0;
  while (at + 8 <= input.length) {
    const inflated = view.getUint32(at);
    const packed = view.getUint32(at + 4);
    if (at + 8 + packed > input.length || to + inflated > outputLength) break;
    try {
      output.set(inflateLz4Block(input.subarray(at + 8, at + 8 + packed), inflated), to);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      break;
    }
    at += 8 + packed;
    to += inflated;
  }
  return at === input.length && to === outputLength ? output : inflateLz4Block(input, outputLength);
}

/** The snappy format description. @throws RangeError if the block is damaged or does not have `outputLength` bytes */
export function inflateSnappyBlock(input: Uint8Array, outputLength: number): Uint8Array {
  let at = 0;
  const next = (): number => {
    if (at >= input.length) throw new RangeError('snappy block ends early');
    return input[at++] as number;
  };
  const little = (count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index += 1) value += next() * 2 ** (8 * index);
    return value;
  };
  let declared = 0;
  for (let shift = 0; ; shift += 7) {
    if (shift > 28) throw new RangeError('snappy block has no length');
    const byte = next();
    declared += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) break;
  }
  if (declared !== outputLength) throw new RangeError('snappy block has another length');
  const output = new Uint8Array(outputLength);
  let to = 0;
  while (at < input.length) {
    const tag = next();
    const kind = tag & 3;
    if (kind === 0) {
      const short = tag >> 2;
      const length = (short < 60 ? short : little(short - 59)) + 1;
      if (at + length > input.length || to + length > outputLength)
        throw new RangeError('snappy block is too long');
      output.set(input.subarray(at, at + length), to);
      at += length;
      to += length;
      continue;
    }
    const length = kind === 1 ? ((tag >> 2) & 7) + 4 : (tag >> 2) + 1;
    const offset = kind === 1 ? ((tag >> 5) << 8) + next() : little(kind === 2 ? 2 : 4);
    if (offset === 0 || offset > to || to + length > outputLength)
      throw new RangeError('snappy block is damaged');
    copyBack(output, to, offset, length);
    to += length;
  }
  if (to !== outputLength) throw new RangeError('snappy block has another length');
  return output;
}
