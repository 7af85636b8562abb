import fc from 'fast-check';

/** One thing that happens to bytes on their way. */
export type Mutation =
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'set'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'insert'; readonly at: number; readonly bytes: Uint8Array }
  | { readonly kind: 'cut'; readonly at: number; readonly count: number }
  | { readonly kind: 'copy'; readonly at: number; readonly from: number; readonly count: number }
  | { readonly kind: 'truncate'; readonly at: number };

/** Mutations whose inserted bytes are random or come from a list of words that mean something to the reader. */
export function mutations(words: readonly string[]): fc.Arbitrary<Mutation[]> {
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 12 }),
    fc.constantFrom(...words).map((word) => new Uint8Array(Buffer.from(word, 'latin1'))),
  );
  // twice as many positions as bytes: those beyond the end fold back
  const at = fc.nat({ max: 100_000 });
  const one = fc.oneof(
    fc.record({ kind: fc.constant('flip' as const), at, bit: fc.nat(7) }),
    fc.record({ kind: fc.constant('set' as const), at, bytes }),
    fc.record({ kind: fc.constant('insert' as const), at, bytes }),
    fc.record({ kind: fc.constant('cut' as const), at, count: fc.nat(40) }),
    fc.record({ kind: fc.constant('copy' as const), at, from: at, count: fc.nat(60) }),
    fc.record({ kind: fc.constant('truncate' as const), at }),
  );
  return fc.array(one, { minLength: 1, maxLength: 4 });
}

/** The bytes after all of it. */
export function mutate(original: Uint8Array, changes: readonly Mutation[]): Uint8Array<ArrayBuffer> {
  let bytes = Buffer.from(original);
  for (const change of changes) {
    const at = bytes.byteLength === 0 ? 0 : change.at % (bytes.byteLength + 1);
    const before = bytes.subarray(0, at);
    switch (change.kind) {
      case 'flip':
        if (at < bytes.byteLength) bytes[at] = (bytes[at] ?? 0) ^ (1 << change.bit);
        break;
      case 'set':
        bytes = Buffer.concat([before, change.bytes, bytes.subarray(at + change.bytes.byteLength)]);
        break;
      case 'insert':
        bytes = Buffer.concat([before, change.bytes, bytes.subarray(at)]);
        break;
      case 'cut':
        bytes = Buffer.concat([before, bytes.subarray(at + change.count)]);
        break;
      case 'copy': {
        const from = bytes.byteLength === 0 ? 0 : change.from % bytes.byteLength;
        bytes = Buffer.concat([before, bytes.subarray(from, from + change.count), bytes.subarray(at)]);
        break;
      }
      case 'truncate':
        bytes = Buffer.from(before);
        break;
    }
  }
  return new Uint8Array(bytes);
}
