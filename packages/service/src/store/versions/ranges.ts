import type { SectionRange } from '../items/item-ranges.ts';

export interface ItemRange {
  readonly partId: string;
  /** Ordinal of the first item in the part. */
  readonly first: number;
  readonly count: number;
}

export interface ItemEdit {
  /** Of the item in the section as it was. */
  readonly position: number;
  /** Where the new item is stored; null removes the item. */
  readonly item: { readonly partId: string; readonly ordinal: number } | null;
}

export function itemCountOf(ranges: readonly ItemRange[]): number {
  return ranges.reduce((sum, { count }) => sum + count, 0);
}

/** The ranges as few as they can be: one that continues the one before it is part of that. */
export function joinRanges(ranges: Iterable<ItemRange>): ItemRange[] {
  const joined: ItemRange[] = [];
  for (const range of ranges) {
    if (range.count === 0) continue;
    const last = joined.at(-1);
    if (last !== undefined && last.partId === range.partId && last.first + last.count === range.first) {
      joined[joined.length - 1] = { ...last, count: last.count + range.count };
    } else joined.push(range);
  }
  return joined;
}

/** The ranges with some items replaced or removed. @param edits in the order of their positions, one for a position */
export function editRanges(ranges: readonly ItemRange[], edits: readonly ItemEdit[]): ItemRange[] {
  return joinRanges(edited(ranges, edits));
}

function* edited(ranges: readonly ItemRange[], edits: readonly ItemEdit[]): Generator<ItemRange> {
  let start = 0;
  let next = 0;
  for (const { partId, first, count } of ranges) {
    let from = 0;
    for (let edit = edits[next]; edit !== undefined && edit.position < start + count; edit = edits[++next]) {
      const at = edit.position - start;
      yield { partId, first: first + from, count: at - from };
      if (edit.item !== null) yield { partId: edit.item.partId, first: edit.item.ordinal, count: 1 };
      from = at + 1;
    }
    yield { partId, first: first + from, count: count - from };
    start += count;
  }
}

export interface RangeColumns {
  readonly partIds: readonly string[];
  readonly starts: readonly number[];
  readonly firsts: readonly number[];
}

export function toColumns(ranges: readonly ItemRange[]): RangeColumns {
  const starts: number[] = [];
  let start = 0;
  for (const { count } of ranges) {
    starts.push(start);
    start += count;
  }
  return { partIds: ranges.map(({ partId }) => partId), starts, firsts: ranges.map(({ first }) => first) };
}

export function toSectionRanges(sections: readonly (readonly ItemRange[])[]): SectionRange[] {
  return sections.flatMap((ranges, section) => {
    const { starts } = toColumns(ranges);
    return ranges.map((range, index) => ({ ...range, section, start: starts[index] as number }));
  });
}

/** The items of a range from its `from`-th up to, not including, its `to`-th. */
export const cutItems = ({ partId, first }: ItemRange, from: number, to: number): ItemRange[] =>
  to <= from ? [] : [{ partId, first: first + from, count: to - from }];

/** Ranges of consecutive items, `itemCount` together; fewer at the end. */
export function* splitRanges<T extends { readonly count: number }>(
  ranges: readonly T[],
  itemCount: number,
  cut: (range: T, from: number, to: number) => readonly T[],
): Generator<T[]> {
  let together: T[] = [];
  let missing = itemCount;
  for (const range of ranges) {
    for (let from = 0; from < range.count; ) {
      const taken = Math.min(missing, range.count - from);
      together.push(...cut(range, from, from + taken));
      from += taken;
      missing -= taken;
      if (missing > 0) continue;
      yield together;
      together = [];
      missing = itemCount;
    }
  }
  if (together.length > 0) yield together;
}

/** Makes a function that finds the ranges of consecutive items by the position of the first. */
export function rangeFinder(ranges: readonly ItemRange[]): (position: number, count: number) => ItemRange[] {
  const { starts } = toColumns(ranges);
  return (position, count) => {
    const found: ItemRange[] = [];
    let left = count;
    for (let index = lastAtMost(starts, position); left > 0; index += 1) {
      const range = ranges[index] as ItemRange;
      const skipped = position + count - left - (starts[index] as number);
      const taken = Math.min(left, range.count - skipped);
      found.push(...cutItems(range, skipped, skipped + taken));
      left -= taken;
    }
    return found;
  };
}

/** Index of the last of ascending numbers that is not greater: there may be a search for each item of a body. */
function lastAtMost(numbers: readonly number[], wanted: number): number {
  let [from, to] = [0, numbers.length];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if ((numbers[middle] as number) <= wanted) from = middle;
    else to = middle;
  }
  return from;
}

export function fromColumns({ partIds, starts, firsts }: RangeColumns, itemCount: number): ItemRange[] {
  return partIds.map((partId, index) => {
    const start = starts[index] as number;
    return { partId, first: firsts[index] as number, count: (starts[index + 1] ?? itemCount) - start };
  });
}

/** The items of `ranges` that are not in `others`; in the order of parts and ordinals. */
export function subtractRanges(ranges: readonly ItemRange[], others: readonly ItemRange[]): ItemRange[] {
  const taken = Map.groupBy(others.toSorted(inOrder), ({ partId }) => partId);
  return joinRanges(remaining(ranges.toSorted(inOrder), taken));
}

const inOrder = (a: ItemRange, b: ItemRange): number =>
  a.partId === b.partId ? a.first - b.first : a.partId < b.partId ? -1 : 1;

function* remaining(ranges: readonly ItemRange[], taken: ReadonlyMap<string, readonly ItemRange[]>) {
  const next = new Map<string, number>();
  for (const { partId, first, count } of ranges) {
    const others = taken.get(partId) ?? [];
    const end = first + count;
    let from = first;
    let index = next.get(partId) ?? 0;
    for (let other = others[index]; other !== undefined && other.first < end; other = others[++index]) {
      if (other.first > from) yield { partId, first: from, count: other.first - from };
      from = Math.max(from, other.first + other.count);
      if (other.first + other.count > end) break;
    }
    next.set(partId, index);
    if (from < end) yield { partId, first: from, count: end - from };
  }
}
