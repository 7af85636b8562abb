/** What V8 and Node say. */
export const ENGINE_MESSAGES: RegExp =
  /Cannot (?:read|set) properties|is not (?:a function|iterable|defined|a constructor)|Invalid typed array|Cannot destructure|must be an instance of|out of (?:bounds|range)|Offset is outside|Invalid array length|Cannot mix BigInt|Cannot convert|undefined|call stack|start offset|RangeError|TypeError|ERR_/;

/** Mulberry32: numbers below `max` that are the same in every run. */
export function randomNumbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % max;
  };
}

/** Changes one to four bytes, half of them in the footer; sometimes cuts something out or puts something in. */
export function mutateParquet(source: Uint8Array, random: (max: number) => number): Uint8Array {
  let bytes = source.slice();
  const footer = new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
  const location = (): number =>
    random(2) === 0 ? bytes.length - 8 - footer + random(footer) : random(bytes.length - 8);
  for (let change = 1 + random(4); change > 0; change -= 1) {
    const at = Math.max(0, Math.min(location(), bytes.length - 9));
    switch (random(6)) {
      case 0:
        bytes[at]! ^= 1 << random(8);
        break;
      case 1:
        bytes[at] = random(256);
        break;
      case 2:
        // A number in zigzag form becomes a larger one.
        bytes[at] = bytes[at]! + 2 * (1 + random(30));
        break;
      case 3:
        bytes[at] = [0, 1, 2, 0x7f, 0x80, 0xff][random(6)]!;
        break;
      case 4:
        bytes.copyWithin(at, random(bytes.length - 8), random(bytes.length - 8) + random(12));
        break;
      default: {
        // The footer keeps its length, and the bytes before the location move.
        const count = 1 + random(6);
        bytes = Uint8Array.from([
          ...bytes.subarray(count, at + count),
          ...new Uint8Array(count),
          ...bytes.subarray(at + count),
        ]).slice(0, bytes.length);
      }
    }
  }
  return bytes;
}
