/**
 * SHA-256 (FIPS 180-4) whose state can be stored, so that a hash continues where it ended: the hash of a section to which items
 * are appended costs what the items cost, however many there are. `node:crypto` does not give its state away.
 */
export class Sha256State {
  readonly #words: Uint32Array;
  readonly #block = new Uint8Array(BLOCK_BYTES);
  #length: number;

  private constructor(words: Uint32Array, length: number, rest: Uint8Array) {
    this.#words = words;
    this.#length = length;
    this.#block.set(rest);
  }

  static start(): Sha256State {
    return new Sha256State(Uint32Array.from(INITIAL), 0, new Uint8Array());
  }

  static resume(bytes: Uint8Array): Sha256State {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const words = Uint32Array.from({ length: 8 }, (_, index) => view.getUint32(index * 4));
    return new Sha256State(words, Number(view.getBigUint64(32)), bytes.subarray(SAVED_BYTES));
  }

  /** The state: eight words, the bytes so far, and those of the block that is not full. */
  save(): Uint8Array {
    const rest = this.#length % BLOCK_BYTES;
    const bytes = new Uint8Array(SAVED_BYTES + rest);
    const view = new DataView(bytes.buffer);
    this.#words.forEach((word, index) => void view.setUint32(index * 4, word));
    view.setBigUint64(32, BigInt(this.#length));
    bytes.set(this.#block.subarray(0, rest), SAVED_BYTES);
    return bytes;
  }

  update(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.byteLength) {
      const rest = this.#length % BLOCK_BYTES;
      const taken = Math.min(BLOCK_BYTES - rest, bytes.byteLength - at);
      this.#block.set(bytes.subarray(at, at + taken), rest);
      at += taken;
      this.#length += taken;
      if (this.#length % BLOCK_BYTES === 0) compress(this.#words, this.#block);
    }
  }

  /** The hash of the bytes so far; the state continues. */
  digest(): Uint8Array {
    const words = this.#words.slice();
    const rest = this.#length % BLOCK_BYTES;
    const tail = new Uint8Array(rest < LENGTH_AT ? BLOCK_BYTES : 2 * BLOCK_BYTES);
    tail.set(this.#block.subarray(0, rest));
    tail[rest] = 0x80;
    new DataView(tail.buffer).setBigUint64(tail.byteLength - 8, BigInt(this.#length) * 8n);
    for (let at = 0; at < tail.byteLength; at += BLOCK_BYTES) {
      compress(words, tail.subarray(at, at + BLOCK_BYTES));
    }
    const hash = new Uint8Array(32);
    const view = new DataView(hash.buffer);
    words.forEach((word, index) => void view.setUint32(index * 4, word));
    return hash;
  }
}

/** The state before the first item of a section (item-v23, section 4). */
export function startSectionHash(name: string): Sha256State {
  const state = Sha256State.start();
  state.update(Buffer.from(`svc-section-1\n${name}\n`));
  return state;
}

const BLOCK_BYTES = 64;
const LENGTH_AT = 56;
const SAVED_BYTES = 40;

const PRIMES = firstPrimes(64);
/** The first 32 bits of the fractional part. */
const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) >>> 0;
/** FIPS 180-4, 5.3.3. */
const INITIAL = PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
/** FIPS 180-4, 4.2.2. */
const ROUND = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const schedule = new Int32Array(64);

/** FIPS 180-4, 6.2.2. */
function compress(words: Uint32Array, block: Uint8Array): void {
  const w = schedule;
  for (let t = 0; t < 16; t++) {
    const at = t * 4;
    w[t] =
      ((block[at] as number) << 24) |
      ((block[at + 1] as number) << 16) |
      ((block[at + 2] as number) << 8) |
      (block[at + 3] as number);
  }
  for (let t = 16; t < 64; t++) {
    const x = w[t - 15] as number;
    const y = w[t - 2] as number;
    const s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x >>> 3);
    const s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y >>> 10);
    w[t] = ((w[t - 16] as number) + s0 + (w[t - 7] as number) + s1) | 0;
  }
  let a = (words[0] as number) | 0;
  let b = (words[1] as number) | 0;
  let c = (words[2] as number) | 0;
  let d = (words[3] as number) | 0;
  let e = (words[4] as number) | 0;
  let f = (words[5] as number) | 0;
  let g = (words[6] as number) | 0;
  let h = (words[7] as number) | 0;
  for (let t = 0; t < 64; t++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND[t] as number) + (w[t] as number)) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
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
  words[0] = (words[0] as number) + a;
  words[1] = (words[1] as number) + b;
  words[2] = (words[2] as number) + c;
  words[3] = (words[3] as number) + d;
  words[4] = (words[4] as number) + e;
  words[5] = (words[5] as number) + f;
  words[6] = (words[6] as number) + g;
  words[7] = (words[7] as number) + h;
}

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate++) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}
