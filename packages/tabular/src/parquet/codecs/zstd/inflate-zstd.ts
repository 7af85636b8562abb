import { BackwardBits } from './backward-bits.ts';
import { buildFseTable, type FseTable, nextState, readFseTable, singleSymbol } from './fse-table.ts';
import { decodeFourStreams, decodeStream, type HuffmanTable, readHuffmanTable } from './huffman-table.ts';

const MAGIC = 0xfd2fb528;
/** The lowest four bits are free. */
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAX_BLOCK_BYTES = 128 * 1024;

/**
 * Inflates zstd frames (RFC 8878) in plain JavaScript, for runtimes without zstd. Time is bounded by the lengths of input
 * and output. It does not compare checksums: Parquet has its own.
 *
 * @throws RangeError where a frame is damaged, needs a dictionary, or the output does not have `outputLength` bytes
 */
export function inflateZstd(input: Uint8Array, outputLength: number): Uint8Array {
  const output = new Uint8Array(outputLength);
  const length = new ZstdInflater().inflate(input, output);
  if (length !== outputLength) throw damaged(`has ${length} bytes and not ${outputLength}`);
  return output;
}

/** Inflates frames with tables that are made once. */
export class ZstdInflater {
  readonly #shared: Shared = {
    codes: sequenceCodes(),
    literalLengths: lengthsFrom(0, [...zeros(16), 1, 1, 1, 1, 2, 2, 3, 3, 4, ...upTo16(6)]),
    matchLengths: lengthsFrom(3, [...zeros(32), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, ...upTo16(7)]),
    literals: new Uint8Array(MAX_BLOCK_BYTES),
  };

  /** Inflates frames into the beginning of the output. @returns the bytes of all of them @throws RangeError as {@link inflateZstd} */
  inflate(input: Uint8Array, output: Uint8Array): number {
    const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
    let at = 0;
    let to = 0;
    while (at < input.length) {
      const magic = view.getUint32(at, true);
      if ((magic & ~15) >>> 0 === SKIPPABLE_MAGIC) {
        at += 8 + view.getUint32(at + 4, true);
        if (at > input.length) throw damaged('ends early');
        continue;
      }
      if (magic !== MAGIC) throw damaged('does not begin as one');
      const frame = new ZstdFrame(input, view, at + 4, output, to, this.#shared);
      frame.inflate();
      ({ at, to } = frame);
    }
    return to;
  }
}

/** What all frames use. */
interface Shared {
  readonly codes: readonly [SequenceCode, SequenceCode, SequenceCode];
  readonly literalLengths: Lengths;
  readonly matchLengths: Lengths;
  /** The literals of a block. */
  readonly literals: Uint8Array;
}

/** How the codes of a sequence are written. */
interface SequenceCode {
  readonly maxAccuracyLog: number;
  readonly maxSymbol: number;
  readonly predefined: FseTable;
}

const ones = (count: number): number[] => Array<number>(count).fill(1);
const twos = (count: number): number[] => Array<number>(count).fill(2);
const rare = (count: number): number[] => Array<number>(count).fill(-1);

/** Literal lengths, offsets and match lengths (RFC 8878, 3.1.1.3.2.2). */
function sequenceCodes(): readonly [SequenceCode, SequenceCode, SequenceCode] {
  const literals = [4, 3, ...twos(11), ...ones(3), ...twos(9), 3, 2, ...ones(5), ...rare(4)];
  const offsets = [...ones(6), ...twos(3), ...ones(15), ...rare(5)];
  const matches = [1, 4, 3, ...twos(6), ...ones(37), ...rare(7)];
  return [
    { maxAccuracyLog: 9, maxSymbol: 35, predefined: buildFseTable(literals, 6) },
    { maxAccuracyLog: 8, maxSymbol: 31, predefined: buildFseTable(offsets, 5) },
    { maxAccuracyLog: 9, maxSymbol: 52, predefined: buildFseTable(matches, 6) },
  ];
}

/** The extra bits of a length code, and the base length to which they are added. */
interface Lengths {
  readonly bits: Uint8Array;
  readonly bases: Int32Array;
}

function lengthsFrom(first: number, extraBits: readonly number[]): Lengths {
  const bases = new Int32Array(extraBits.length);
  let base = first;
  for (const [code, bits] of extraBits.entries()) {
    bases[code] = base;
    base += 2 ** bits;
  }
  return { bits: Uint8Array.from(extraBits), bases };
}

const zeros = (count: number): number[] => Array<number>(count).fill(0);
const upTo16 = (first: number): number[] => Array.from({ length: 17 - first }, (_, index) => first + index);

/** One frame, which is inflated into a part of the output. */
class ZstdFrame {
  readonly #input: Uint8Array;
  readonly #view: DataView;
  readonly #output: Uint8Array;
  readonly #start: number;
  readonly #shared: Shared;
  #huffman: HuffmanTable | undefined;
  #tables: readonly FseTable[] = [];
  readonly #repeated: [number, number, number] = [1, 4, 8];
  /** Where reading and writing continue. */
  at: number;
  to: number;

  constructor(input: Uint8Array, view: DataView, at: number, output: Uint8Array, to: number, shared: Shared) {
    this.#input = input;
    this.#shared = shared;
    this.#view = view;
    this.#output = output;
    this.#start = to;
    this.at = at;
    this.to = to;
  }

  inflate(): void {
    const { contentSize, hasChecksum } = this.#readHeader();
    for (let isLast = false; !isLast; ) {
      const header = this.#byte() | (this.#byte() << 8) | (this.#byte() << 16);
      isLast = (header & 1) === 1;
      this.#block((header >> 1) & 3, header >> 3);
    }
    if (hasChecksum) this.#pass(4);
    if (contentSize !== null && contentSize !== this.to - this.#start) throw damaged('has another length');
  }

  #readHeader(): { contentSize: number | null; hasChecksum: boolean } {
    const flags = this.#byte();
    const isSingle = (flags & 32) !== 0;
    if ((flags & 8) !== 0) throw damaged('has an unknown form');
    if (!isSingle) this.#pass(1);
    let dictionary = 0;
    for (let left = [0, 1, 2, 4][flags & 3] as number; left > 0; left -= 1) dictionary |= this.#byte();
    if (dictionary !== 0) throw damaged('needs a dictionary');
    const sizeAt = this.at;
    const hasChecksum = (flags & 4) !== 0;
    switch (flags >> 6) {
      case 0:
        return { contentSize: isSingle ? this.#byte() : null, hasChecksum };
      case 1:
        this.#pass(2);
        return { contentSize: this.#view.getUint16(sizeAt, true) + 256, hasChecksum };
      case 2:
        this.#pass(4);
        return { contentSize: this.#view.getUint32(sizeAt, true), hasChecksum };
      default:
        this.#pass(8);
        return { contentSize: Number(this.#view.getBigUint64(sizeAt, true)), hasChecksum };
    }
  }

  #block(type: number, size: number): void {
    if (size > MAX_BLOCK_BYTES) throw damaged('has a block that is too long');
    if (type === 0) {
      const start = this.#pass(size);
      this.#reserve(size);
      this.#output.set(this.#input.subarray(start, this.at), this.to);
      this.to += size;
    } else if (type === 1) {
      this.#reserve(size);
      this.#output.fill(this.#byte(), this.to, this.to + size);
      this.to += size;
    } else if (type === 2) {
      const end = this.#pass(size) + size;
      this.at = end - size;
      this.#sequences(this.#literals(end), end);
      this.at = end;
    } else throw damaged('has a block of an unknown kind');
  }

  /** Reads the literals of a block (RFC 8878, 3.1.1.3.1). */
  #literals(end: number): Uint8Array {
    const first = this.#byte();
    const type = first & 3;
    const format = (first >> 2) & 3;
    if (type < 2) {
      let size = first >> 3;
      if ((format & 1) === 1) size = (first >> 4) | (this.#byte() << 4);
      if (format === 3) size |= this.#byte() << 12;
      if (size > MAX_BLOCK_BYTES) throw damaged('has too many literals');
      if (type === 1) return this.#shared.literals.subarray(0, size).fill(this.#byte());
      const start = this.#pass(size);
      if (this.at > end) throw damaged('ends early');
      return this.#input.subarray(start, this.at);
    }
    const width = format < 2 ? 10 : format === 2 ? 14 : 18;
    let sizes = first >> 4;
    for (let byte = 1; byte < (width + width + 4) / 8; byte += 1) sizes += this.#byte() * 2 ** (8 * byte - 4);
    const size = sizes % 2 ** width;
    const packedEnd = this.at + Math.floor(sizes / 2 ** width);
    if (size > MAX_BLOCK_BYTES || packedEnd > end) throw damaged('has too many literals');
    if (type === 2) {
      const { table, end: tableEnd } = readHuffmanTable(this.#input.subarray(0, packedEnd), this.at);
      this.#huffman = table;
      this.at = tableEnd;
    }
    if (this.#huffman === undefined) throw damaged('has no code for its literals');
    const literals = this.#shared.literals.subarray(0, size);
    const decode = format === 0 ? decodeStream : decodeFourStreams;
    decode(this.#huffman, this.#input, [this.at, packedEnd], literals);
    this.at = packedEnd;
    return literals;
  }

  /** Reads the sequences of a block, and does what they say (RFC 8878, 3.1.1.3.2 and 3.1.1.4). */
  #sequences(literals: Uint8Array, end: number): void {
    let count = this.#byte();
    if (count === 255) count = this.#byte() + (this.#byte() << 8) + 0x7f00;
    else if (count > 127) count = ((count - 128) << 8) + this.#byte();
    const limit = Math.min(this.#output.length, this.to + MAX_BLOCK_BYTES);
    let used = 0;
    if (count > 0) {
      const tables = this.#readTables(end);
      this.#tables = tables;
      used = this.#execute(literals, count, limit, tables, new BackwardBits(this.#input, this.at, end));
    } else if (this.at !== end) throw damaged('has bytes after its literals');
    const rest = literals.length - used;
    if (this.to + rest > limit) throw damaged('is too long');
    this.#output.set(literals.subarray(used), this.to);
    this.to += rest;
  }

  #readTables(end: number): readonly FseTable[] {
    const modes = this.#byte();
    if ((modes & 3) !== 0) throw damaged('has an unknown form');
    return this.#shared.codes.map((code, index) => {
      switch ((modes >> (6 - 2 * index)) & 3) {
        case 0:
          return code.predefined;
        case 1: {
          const symbol = this.#byte();
          if (symbol > code.maxSymbol) throw damaged('has an unknown code');
          return singleSymbol(symbol);
        }
        case 2: {
          const { table, end: tableEnd } = readFseTable(this.#input.subarray(0, end), this.at, code);
          this.at = tableEnd;
          return table;
        }
        default: {
          const table = this.#tables[index];
          if (table === undefined) throw damaged('repeats no table');
          return table;
        }
      }
    });
  }

  /** @returns how many literals have been used */
  #execute(
    literals: Uint8Array,
    count: number,
    limit: number,
    [literalTable, offsetTable, matchTable]: readonly FseTable[],
    bits: BackwardBits,
  ): number {
    if (literalTable === undefined || offsetTable === undefined || matchTable === undefined) return 0;
    const output = this.#output;
    const { bits: literalBits, bases: literalBases } = this.#shared.literalLengths;
    const { bits: matchBits, bases: matchBases } = this.#shared.matchLengths;
    let literalState = bits.read(literalTable.accuracyLog);
    let offsetState = bits.read(offsetTable.accuracyLog);
    let matchState = bits.read(matchTable.accuracyLog);
    let used = 0;
    let to = this.to;
    for (let left = count; left > 0; left -= 1) {
      const offsetCode = offsetTable.symbols[offsetState] as number;
      const matchCode = matchTable.symbols[matchState] as number;
      const literalCode = literalTable.symbols[literalState] as number;
      const offsetValue = 2 ** offsetCode + bits.read(offsetCode);
      const matchLength = (matchBases[matchCode] as number) + bits.read(matchBits[matchCode] as number);
      const literalLength =
        (literalBases[literalCode] as number) + bits.read(literalBits[literalCode] as number);
      if (left > 1) {
        literalState = nextState(literalTable, literalState, bits);
        matchState = nextState(matchTable, matchState, bits);
        offsetState = nextState(offsetTable, offsetState, bits);
      }
      if (bits.left < 0) throw damaged('ends early');
      const offset = this.#offset(offsetValue, literalLength);
      const from = to + literalLength - offset;
      if (used + literalLength > literals.length || to + literalLength + matchLength > limit) {
        throw damaged('is too long');
      }
      if (from < this.#start) throw damaged('repeats bytes before its beginning');
      for (let index = 0; index < literalLength; index += 1)
        output[to + index] = literals[used + index] as number;
      used += literalLength;
      to += literalLength;
      // Source and target may overlap, which repeats what was just written.
      for (let index = 0; index < matchLength; index += 1)
        output[to + index] = output[from + index] as number;
      to += matchLength;
    }
    if (bits.left !== 0) throw damaged('has bits after its sequences');
    this.to = to;
    return used;
  }

  /** How far back a match begins; small values repeat one of the last three offsets. */
  #offset(value: number, literalLength: number): number {
    const repeated = this.#repeated;
    const [first, second, third] = repeated;
    if (value > 3) {
      repeated[2] = second;
      repeated[1] = first;
      repeated[0] = value - 3;
      return value - 3;
    }
    const index = literalLength === 0 ? value : value - 1;
    if (index === 0) return first;
    const offset = index === 1 ? second : index === 2 ? third : first - 1;
    if (offset === 0) throw damaged('has an offset of zero');
    repeated[2] = index === 1 ? third : second;
    repeated[1] = first;
    repeated[0] = offset;
    return offset;
  }

  #byte(): number {
    return this.#input[this.#pass(1)] as number;
  }

  /** Goes on after some bytes. @returns where they begin */
  #pass(length: number): number {
    const { at } = this;
    if (at + length > this.#input.length) throw damaged('ends early');
    this.at = at + length;
    return at;
  }

  #reserve(length: number): void {
    if (this.to + length > this.#output.length) throw damaged('is too long');
  }
}

function damaged(how: string): RangeError {
  return new RangeError(`zstd frame ${how}`);
}
