/** What a raw deflate stream holds, found out without unpacking it. */
export interface DeflateMeasure {
  /**
   * `complete`: the stream ends with its final block; `broken`: invalid or cut off; `stopped`: it gives more bytes than
   * asked for.
   */
  outcome: 'complete' | 'broken' | 'stopped';
  /** Bytes that come out up to there. */
  producedBytes: number;
  /** Bytes of the stream that were used, the last one perhaps in part. */
  consumedBytes: number;
}

/**
 * Walks a raw deflate stream (RFC 1951) symbol by symbol and counts what it would give, in constant memory.
 *
 * In memory, jszip inflates: it buffers what one block of input gives, passes over broken streams in silence and does
 * not say where a stream ended. This tells beforehand, so a limit holds before a byte is unpacked.
 *
 * @param maxBytes stops as soon as more than this would come out
 */
export function measureDeflate(bytes: Uint8Array, maxBytes: number): DeflateMeasure {
  const bits = new BitReader(bytes);
  let produced = 0;
  const end = (outcome: DeflateMeasure['outcome']): DeflateMeasure => ({
    outcome,
    producedBytes: produced,
    consumedBytes: bits.consumedBytes(),
  });

  for (let isFinal = false; !isFinal; ) {
    isFinal = bits.take(1) === 1;
    const type = bits.take(2);
    if (type === 0) {
      const length = bits.skipStored();
      if (length < 0) return end('broken');
      produced += length;
      if (produced > maxBytes) return end('stopped');
      continue;
    }
    const codes = type === 1 ? fixedCodes() : type === 2 ? readDynamicCodes(bits) : null;
    if (!codes) return end('broken');
    for (;;) {
      const symbol = bits.decode(codes.lengths);
      if (symbol < 0) return end('broken');
      if (symbol < 256) produced++;
      else if (symbol === 256) break;
      else {
        const length = bits.lengthOf(symbol);
        const distance = bits.distanceOf(codes.distances);
        if (length < 0 || distance < 0 || distance > Math.min(produced, 32_768)) return end('broken');
        produced += length;
      }
      if (produced > maxBytes) return end('stopped');
    }
    if (bits.isPastEnd()) return end('broken');
  }
  return bits.isPastEnd() ? end('broken') : end('complete');
}

/** Canonical Huffman codes as one lookup by the next `bits` bits: symbol * 16 + code length, 0 where no code is. */
interface CodeTable {
  readonly bits: number;
  readonly entries: Uint16Array;
}

interface BlockCodes {
  readonly lengths: CodeTable;
  readonly distances: CodeTable;
}

const LENGTH_BASE = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
];
const LENGTH_EXTRA = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASE = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_EXTRA = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
/** RFC 1951 section 3.2.7: the order in which the lengths of the code-length codes are written. */
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

class BitReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #hold = 0;
  #count = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Past its end the stream reads as zeros; `isPastEnd` tells. */
  #need(count: number): void {
    while (this.#count < count) {
      this.#hold |= (this.#bytes[this.#at++] ?? 0) << this.#count;
      this.#count += 8;
    }
  }

  #drop(count: number): void {
    this.#hold >>>= count;
    this.#count -= count;
  }

  take(count: number): number {
    this.#need(count);
    const value = this.#hold & ((1 << count) - 1);
    this.#drop(count);
    return value;
  }

  decode(table: CodeTable): number {
    this.#need(table.bits);
    const entry = table.entries[this.#hold & ((1 << table.bits) - 1)]!;
    if (entry === 0) return -1;
    this.#drop(entry & 15);
    // Zeros past the end may decode for ever.
    return this.isPastEnd() ? -1 : entry >>> 4;
  }

  lengthOf(symbol: number): number {
    const index = symbol - 257;
    return index < LENGTH_BASE.length ? LENGTH_BASE[index]! + this.take(LENGTH_EXTRA[index]!) : -1;
  }

  distanceOf(table: CodeTable): number {
    const symbol = this.decode(table);
    return symbol >= 0 && symbol < DISTANCE_BASE.length
      ? DISTANCE_BASE[symbol]! + this.take(DISTANCE_EXTRA[symbol]!)
      : -1;
  }

  /** Section 3.2.4; the length of the stored block that was skipped, or -1. */
  skipStored(): number {
    this.#drop(this.#count & 7);
    const length = this.take(16);
    if (length !== (~this.take(16) & 0xffff)) return -1;
    this.#at += length - this.#count / 8;
    this.#hold = 0;
    this.#count = 0;
    return this.isPastEnd() ? -1 : length;
  }

  consumedBytes(): number {
    return this.#at - (this.#count >>> 3);
  }

  isPastEnd(): boolean {
    return this.consumedBytes() > this.#bytes.length;
  }
}

/**
 * Builds the lookup. Null for lengths that give more codes than fit, or fewer: only a single distance code of one bit
 * may be incomplete, as in zlib.
 */
function codeTable(lengths: Uint8Array, mayBeIncomplete: boolean): CodeTable | null {
  const perLength = new Uint16Array(16);
  for (const length of lengths) perLength[length]!++;
  perLength[0] = 0;
  let bits = 15;
  while (bits > 1 && perLength[bits] === 0) bits--;
  let left = 1;
  const nextCode = new Uint16Array(17);
  for (let length = 1; length <= 15; length++) {
    left = left * 2 - perLength[length]!;
    if (left < 0) return null;
    nextCode[length + 1] = (nextCode[length]! + perLength[length]!) << 1;
  }
  if (left > 0 && !(mayBeIncomplete && bits === 1)) return null;

  const entries = new Uint16Array(1 << bits);
  for (let symbol = 0; symbol < lengths.length; symbol++) {
    const length = lengths[symbol]!;
    if (length === 0) continue;
    // Codes are sent with their first bit lowest, so the lookup goes by the reversed code.
    for (let at = reverse(nextCode[length]!++, length); at < entries.length; at += 1 << length) {
      entries[at] = (symbol << 4) | length;
    }
  }
  return { bits, entries };
}

function reverse(code: number, length: number): number {
  let reversed = 0;
  for (let bit = 0; bit < length; bit++) reversed |= ((code >>> bit) & 1) << (length - 1 - bit);
  return reversed;
}

/** Section 3.2.6. */
function fixedCodes(): BlockCodes | null {
  const lengths = new Uint8Array(288).fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280);
  const lengthTable = codeTable(lengths, false);
  const distanceTable = codeTable(new Uint8Array(32).fill(5), false);
  return lengthTable && distanceTable && { lengths: lengthTable, distances: distanceTable };
}

/** Section 3.2.7. */
function readDynamicCodes(bits: BitReader): BlockCodes | null {
  const lengthCount = bits.take(5) + 257;
  const distanceCount = bits.take(5) + 1;
  const orderCount = bits.take(4) + 4;
  if (lengthCount > 286 || distanceCount > 30) return null;
  const orderLengths = new Uint8Array(19);
  for (let i = 0; i < orderCount; i++) orderLengths[CODE_LENGTH_ORDER[i]!] = bits.take(3);
  const orderTable = codeTable(orderLengths, false);
  if (!orderTable) return null;

  const all = new Uint8Array(lengthCount + distanceCount);
  for (let at = 0; at < all.length; ) {
    const symbol = bits.decode(orderTable);
    if (symbol < 0) return null;
    if (symbol < 16) {
      all[at++] = symbol;
      continue;
    }
    if (symbol === 16 && at === 0) return null;
    const value = symbol === 16 ? all[at - 1]! : 0;
    const repeat = symbol === 16 ? 3 + bits.take(2) : symbol === 17 ? 3 + bits.take(3) : 11 + bits.take(7);
    if (at + repeat > all.length) return null;
    all.fill(value, at, at + repeat);
    at += repeat;
  }
  if (all[256] === 0) return null;
  const lengths = codeTable(all.subarray(0, lengthCount), true);
  const distances = codeTable(all.subarray(lengthCount), true);
  return lengths && distances && { lengths, distances };
}
