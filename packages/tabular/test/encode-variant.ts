/** A value as a VARIANT stores it: plain values are the bytes after the header. */
export type VariantNode =
  | { readonly kind: number; readonly payload: Uint8Array }
  | { readonly short: Uint8Array }
  | { readonly items: readonly VariantNode[]; readonly widths?: Widths }
  | {
      readonly members: ReadonlyArray<readonly [name: string, value: VariantNode]>;
      readonly widths?: Widths;
    };

/** How wide the numbers of an array or object are, at least; wider than they must be is allowed. */
export interface Widths {
  readonly offset?: 1 | 2 | 3 | 4;
  readonly id?: 1 | 2 | 3 | 4;
  readonly isLarge?: boolean;
}

/** Whole numbers of any width, the lowest byte first. */
export function littleEndian(value: bigint | number, width: number): Uint8Array {
  let left = BigInt.asUintN(width * 8, BigInt(value));
  return Uint8Array.from({ length: width }, () => {
    const byte = Number(left & 0xffn);
    left >>= 8n;
    return byte;
  });
}

/** The names of a VARIANT: its metadata column. */
export function encodeNames(names: readonly string[], width: 1 | 2 | 3 | 4 = 4): Uint8Array {
  const texts = names.map((name) => Buffer.from(name));
  let end = 0;
  const ends = texts.map((text) => {
    end += text.length;
    return end;
  });
  return Buffer.concat([
    Uint8Array.of(1 | ((width - 1) << 6)),
    ...[names.length, 0, ...ends].map((value) => littleEndian(value, width)),
    ...texts,
  ]);
}

/** All names of members, in any depth. */
export function namesOf(node: VariantNode): string[] {
  if ('items' in node) return node.items.flatMap(namesOf);
  if ('members' in node) return node.members.flatMap(([name, value]) => [name, ...namesOf(value)]);
  return [];
}

/** The value column of a VARIANT. */
export function encodeValue(node: VariantNode, names: readonly string[]): Uint8Array {
  if ('kind' in node) return Buffer.concat([Uint8Array.of(node.kind << 2), node.payload]);
  if ('short' in node) return Buffer.concat([Uint8Array.of((node.short.length << 2) | 1), node.short]);
  const isArray = 'items' in node;
  // Members are listed by name; their values may be stored in any order.
  const members = isArray ? node.items.map((item) => ['', item] as const) : [...node.members].sort(byName);
  const values = members.map(([, value]) => encodeValue(value, names));
  const stored = isArray ? values : [...values].reverse();
  const starts = new Map<Uint8Array, number>();
  let start = 0;
  for (const value of stored) {
    starts.set(value, start);
    start += value.length;
  }
  const offsets = values.map((value) => starts.get(value) ?? 0);
  const offsetWidth = Math.max(widthOf(start), node.widths?.offset ?? 1);
  const idWidth = Math.max(widthOf(names.length), node.widths?.id ?? 1);
  const isLarge = members.length > 255 || node.widths?.isLarge === true;
  const header = isArray
    ? 3 | ((offsetWidth - 1) << 2) | (Number(isLarge) << 4)
    : 2 | ((offsetWidth - 1) << 2) | ((idWidth - 1) << 4) | (Number(isLarge) << 6);
  return Buffer.concat([
    Uint8Array.of(header),
    littleEndian(members.length, isLarge ? 4 : 1),
    ...(isArray ? [] : members.map(([name]) => littleEndian(names.indexOf(name), idWidth))),
    ...[...offsets, start].map((offset) => littleEndian(offset, offsetWidth)),
    ...stored,
  ]);
}

function byName([a]: readonly [string, VariantNode], [b]: readonly [string, VariantNode]): number {
  return a < b ? -1 : 1;
}

function widthOf(value: number): number {
  return value < 0x100 ? 1 : value < 0x1_0000 ? 2 : value < 0x100_0000 ? 3 : 4;
}
