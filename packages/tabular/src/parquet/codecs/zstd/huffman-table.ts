import { BackwardBits } from './backward-bits.ts';
import { nextState, readFseTable } from './fse-table.ts';

/** A Huffman code (RFC 8878, 4.2): for each value of the next bits a symbol, and how many bits it takes. */
export interface HuffmanTable {
  readonly maxBits: number;
  readonly symbols: Uint8Array;
  readonly lengths: Uint8Array;
}

const MAX_BITS = 11;
const MAX_SYMBOLS = 256;

/**
 * Reads the description of a code.
 *
 * @returns the code, and where its description ends
 * @throws RangeError where it is damaged
 */
export function readHuffmanTable(
  bytes: Uint8Array,
  start: number,
): { readonly table: HuffmanTable; readonly end: number } {
  const header = bytes[start] ?? 0;
  const count = header - 127;
  const end = start + 1 + (header < 128 ? header : (count + 1) >> 1);
  if (end > bytes.length) throw damaged();
  const weights =
    header < 128
      ? packedWeights(bytes, start + 1, end)
      : Array.from({ length: count }, (_, index) => {
          const byte = bytes[start + 1 + (index >> 1)] as number;
          return index % 2 === 0 ? byte >> 4 : byte & 15;
        });
  return { table: buildTable(weights), end };
}

/** Weights by two states of one table, in turns. */
function packedWeights(bytes: Uint8Array, start: number, end: number): number[] {
  const limits = { maxAccuracyLog: 6, maxSymbol: MAX_BITS };
  const { table, end: streamStart } = readFseTable(bytes.subarray(0, end), start, limits);
  const input = new BackwardBits(bytes, streamStart, end);
  const states = [input.read(table.accuracyLog), input.read(table.accuracyLog)];
  if (input.left < 0) throw damaged();
  const weights: number[] = [];
  for (let turn = 0; weights.length < MAX_SYMBOLS; turn = 1 - turn) {
    const state = states[turn] as number;
    weights.push(table.symbols[state] as number);
    states[turn] = nextState(table, state, input);
    if (input.left >= 0) continue;
    weights.push(table.symbols[states[1 - turn] as number] as number);
    return weights;
  }
  throw damaged();
}

/** @param weights without the last one, which completes the code */
function buildTable(weights: number[]): HuffmanTable {
  let sum = 0;
  for (const weight of weights) if (weight > 0) sum += 2 ** (weight - 1);
  if (sum === 0 || weights.length >= MAX_SYMBOLS) throw damaged();
  const maxBits = 32 - Math.clz32(sum);
  const rest = 2 ** maxBits - sum;
  if (maxBits > MAX_BITS || (rest & (rest - 1)) !== 0) throw damaged();
  weights.push(32 - Math.clz32(rest));
  const symbols = new Uint8Array(2 ** maxBits);
  const lengths = new Uint8Array(2 ** maxBits);
  let at = 0;
  for (let weight = 1; weight <= maxBits; weight += 1) {
    const width = 2 ** (weight - 1);
    for (let symbol = 0; symbol < weights.length; symbol += 1) {
      if (weights[symbol] !== weight) continue;
      symbols.fill(symbol, at, at + width);
      lengths.fill(maxBits + 1 - weight, at, at + width);
      at += width;
    }
  }
  return { maxBits, symbols, lengths };
}

/** Decodes one stream, which has exactly as many symbols as `target`. @throws RangeError where it is damaged */
export function decodeStream(
  { maxBits, symbols, lengths }: HuffmanTable,
  bytes: Uint8Array,
  [start, end]: readonly [start: number, end: number],
  target: Uint8Array,
): void {
  const input = new BackwardBits(bytes, start, end);
  for (let index = 0; index < target.length; index += 1) {
    const code = input.peek(maxBits);
    target[index] = symbols[code] as number;
    input.left -= lengths[code] as number;
    if (input.left < 0) throw damaged();
  }
  if (input.left !== 0) throw damaged();
}

/** Decodes four streams, each of a fourth of the symbols; their lengths come first. @throws RangeError */
export function decodeFourStreams(
  table: HuffmanTable,
  bytes: Uint8Array,
  [start, end]: readonly [start: number, end: number],
  target: Uint8Array,
): void {
  const share = (target.length + 3) >> 2;
  if (end - start < 6 || 3 * share > target.length) throw damaged();
  let at = start + 6;
  for (let stream = 0; stream < 4; stream += 1) {
    const length = (bytes[start + 2 * stream] as number) | ((bytes[start + 2 * stream + 1] as number) << 8);
    const next = stream === 3 ? end : at + length;
    if (next > end) throw damaged();
    const last = stream === 3 ? target.length : (stream + 1) * share;
    decodeStream(table, bytes, [at, next], target.subarray(stream * share, last));
    at = next;
  }
}

function damaged(): RangeError {
  return new RangeError('zstd code is damaged');
}
