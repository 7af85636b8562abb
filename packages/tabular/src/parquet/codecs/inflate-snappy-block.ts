/**
 * Inflates a block of snappy (the snappy format description) in plain JavaScript, for runtimes without WebAssembly.
 *
 * @throws RangeError if the block is damaged or does not have `outputLength` bytes
 */
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
    // Source and target may overlap, which repeats what was just written.
    if (offset >= length) output.copyWithin(to, to - offset, to - offset + length);
    else
      for (let index = 0; index < length; index += 1)
        output[to + index] = output[to - offset + index] as number;
    to += length;
  }
  if (to !== outputLength) throw new RangeError('snappy block has another length');
  return output;
}
