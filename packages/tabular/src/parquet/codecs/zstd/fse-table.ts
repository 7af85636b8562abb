import type { BackwardBits } from './backward-bits.ts';

/** A table of finite state entropy (RFC 8878, 4.1): what each state means, and which states follow. */
export interface FseTable {
  readonly accuracyLog: number;
  readonly symbols: Uint8Array;
  /** Bits to read for the next state, which is their value plus the base. */
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** A table of one symbol, which takes no bits. */
export function singleSymbol(symbol: number): FseTable {
  return {
    accuracyLog: 0,
    symbols: Uint8Array.of(symbol),
    bits: new Uint8Array(1),
    bases: new Uint16Array(1),
  };
}

/**
 * Reads the description of a table.
 *
 * @returns the table, and where its description ends
 * @throws RangeError where it is damaged
 */
export function readFseTable(
  bytes: Uint8Array,
  start: number,
  { maxAccuracyLog, maxSymbol }: { readonly maxAccuracyLog: number; readonly maxSymbol: number },
): { readonly table: FseTable; readonly end: number } {
  let bit = start * 8;
  const read = (count: number): number => {
    const byte = bit >> 3;
    if (byte >= bytes.length) throw damaged();
    const word = (bytes[byte] as number) | ((bytes[byte + 1] ?? 0) << 8) | ((bytes[byte + 2] ?? 0) << 16);
    const value = (word >> (bit & 7)) & ((1 << count) - 1);
    bit += count;
    return value;
  };
  const accuracyLog = read(4) + 5;
  if (accuracyLog > maxAccuracyLog) throw damaged();
  const shares: number[] = [];
  for (let left = 1 << accuracyLog; left > 0; ) {
    if (shares.length > maxSymbol) throw damaged();
    const count = 32 - Math.clz32(left + 1);
    const lowMask = (1 << (count - 1)) - 1;
    const threshold = (1 << count) - 2 - left;
    let value = read(count);
    if ((value & lowMask) < threshold) {
      // Small values take a bit less.
      bit -= 1;
      value &= lowMask;
    } else if (value > lowMask) value -= threshold;
    const share = value - 1;
    left -= Math.abs(share);
    if (left < 0) throw damaged();
    shares.push(share);
    for (let zeros = share === 0 ? 3 : 0; zeros === 3; ) {
      zeros = read(2);
      for (let zero = 0; zero < zeros; zero += 1) shares.push(0);
      if (shares.length > maxSymbol + 1) throw damaged();
    }
  }
  return { table: buildFseTable(shares, accuracyLog), end: (bit + 7) >> 3 };
}

/**
 * Builds a table.
 *
 * @param shares how many states each symbol has; -1 for one that needs all bits for the next state
 * @throws RangeError where the shares do not fill the table
 */
export function buildFseTable(shares: readonly number[], accuracyLog: number): FseTable {
  const size = 1 << accuracyLog;
  const symbols = new Uint8Array(size);
  const next = new Uint16Array(shares.length);
  let high = size;
  for (const [symbol, share] of shares.entries()) {
    next[symbol] = Math.abs(share);
    if (share !== -1) continue;
    high -= 1;
    symbols[high] = symbol;
  }
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  for (const [symbol, share] of shares.entries()) {
    for (let index = 0; index < share; index += 1) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  }
  if (at !== 0) throw damaged();
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state += 1) {
    const symbol = symbols[state] as number;
    const count = next[symbol] as number;
    next[symbol] = count + 1;
    const taken = accuracyLog - (31 - Math.clz32(count));
    bits[state] = taken;
    bases[state] = (count << taken) - size;
  }
  return { accuracyLog, symbols, bits, bases };
}

/** The state that follows. */
export function nextState({ bits, bases }: FseTable, state: number, input: BackwardBits): number {
  return (bases[state] as number) + input.read(bits[state] as number);
}

function damaged(): RangeError {
  return new RangeError('zstd table is damaged');
}
