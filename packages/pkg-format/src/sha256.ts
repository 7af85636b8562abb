/** SHA-256 in parts. */
export interface Sha256 {
  update(bytes: Uint8Array): void;
  /** The 32 bytes; the value must not be used afterwards. */
  digest(): Uint8Array;
}

/** Starts a SHA-256 (FIPS 180-4) that runs anywhere; browsers offer their own for whole files only. */
export function createPortableSha256(): Sha256 {
  const k = roundConstants();
  const state = fractionBits(8, 1 / 2);
  const words = new Int32Array(64);
  const block = new Uint8Array(64);
  let filled = 0;
  let totalBytes = 0;

  function addBlock(bytes: Uint8Array, start: number): void {
    for (let i = 0; i < 16; i++) {
      const at = start + i * 4;
      words[i] = (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
    }
    for (let i = 16; i < 64; i++) {
      const x = words[i - 15]!;
      const y = words[i - 2]!;
      const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
      const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
      words[i] = (words[i - 16]! + s0 + words[i - 7]! + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    for (let i = 0; i < 64; i++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + k[i]! + words[i]!) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = state[i]! + value;
  }

  function update(bytes: Uint8Array): void {
    totalBytes += bytes.length;
    let at = 0;
    if (filled > 0) {
      at = Math.min(64 - filled, bytes.length);
      block.set(bytes.subarray(0, at), filled);
      filled += at;
      if (filled < 64) return;
      addBlock(block, 0);
      filled = 0;
    }
    for (; at + 64 <= bytes.length; at += 64) addBlock(bytes, at);
    block.set(bytes.subarray(at), 0);
    filled = bytes.length - at;
  }

  return {
    update,
    digest() {
      const bitLength = BigInt(totalBytes) * 8n;
      const padding = new Uint8Array((filled < 56 ? 56 : 120) - filled + 8);
      padding[0] = 0x80;
      new DataView(padding.buffer).setBigUint64(padding.length - 8, bitLength);
      update(padding);
      const digest = new DataView(new ArrayBuffer(32));
      for (const [i, word] of state.entries()) digest.setInt32(i * 4, word);
      return new Uint8Array(digest.buffer);
    },
  };
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

let cachedConstants: Int32Array | undefined;

function roundConstants(): Int32Array {
  cachedConstants ??= fractionBits(64, 1 / 3);
  return cachedConstants;
}

/** Sections 4.2.2 and 5.3.3: the first 32 bits of the fractional parts of roots of the first primes. */
function fractionBits(count: number, power: number): Int32Array {
  const bits = new Int32Array(count);
  for (let found = 0, candidate = 2; found < count; candidate++) {
    let divisor = 2;
    while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor++;
    if (divisor * divisor > candidate) bits[found++] = (candidate ** power % 1) * 2 ** 32;
  }
  return bits;
}
