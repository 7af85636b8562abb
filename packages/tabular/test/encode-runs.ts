/** An unsigned LEB128 number. */
export function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return [...bytes, rest];
}

/** Bit-packs values, the lowest bits first, one by one and with arithmetic that does not overflow. */
function pack(values: readonly number[], width: number): number[] {
  const bits = values.flatMap((value) =>
    Array.from({ length: width }, (_, bit) => Math.floor(value / 2 ** bit) % 2),
  );
  return Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) =>
    bits.slice(at * 8, at * 8 + 8).reduce((byte, bit, index) => byte + bit * 2 ** index, 0),
  );
}

export type Run = { repeat: number; value: number } | { packed: number[] };

/** Runs in the hybrid of run-length encoding and bit-packing. */
export function encodeRuns(runs: readonly Run[], width: number): Uint8Array {
  return Uint8Array.from(
    runs.flatMap((run) => {
      if ('packed' in run) {
        const groups = Math.ceil(run.packed.length / 8);
        const padded = [...run.packed, ...new Array<number>(groups * 8 - run.packed.length).fill(0)];
        return [...varint(groups * 2 + 1), ...pack(padded, width)];
      }
      const bytes = Array.from(
        { length: Math.ceil(width / 8) },
        (_, index) => Math.floor(run.value / 256 ** index) % 256,
      );
      return [...varint(run.repeat * 2), ...bytes];
    }),
  );
}
