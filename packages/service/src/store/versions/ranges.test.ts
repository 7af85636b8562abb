import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  cutItems,
  editRanges,
  fromColumns,
  type ItemRange,
  itemCountOf,
  joinRanges,
  rangeFinder,
  splitRanges,
  subtractRanges,
  toColumns,
} from './ranges.ts';

const range = fc.record({
  partId: fc.constantFrom('a', 'b'),
  first: fc.nat(20),
  count: fc.nat(5),
});
/** The items one by one. */
const itemsOf = (ranges: readonly ItemRange[]): string[] =>
  ranges.flatMap(({ partId, first, count }) =>
    Array.from({ length: count }, (_, index) => `${partId}${first + index}`),
  );

it('ranges that are joined have the same items, and none goes on where the one before it ends', () => {
  fc.assert(
    fc.property(fc.array(range), (ranges) => {
      const joined = joinRanges(ranges);
      expect(itemsOf(joined)).toEqual(itemsOf(ranges));
      for (const [index, { partId, first, count }] of joined.entries()) {
        expect(count).toBeGreaterThan(0);
        const next = joined[index + 1];
        expect(next?.partId === partId && next.first === first + count).toBe(false);
      }
    }),
  );
});

it('edits of ranges are edits of the list of their items', () => {
  const edit = fc.tuple(fc.boolean(), fc.nat(50));
  fc.assert(
    fc.property(fc.array(range), fc.array(fc.option(edit), { maxLength: 60 }), (ranges, given) => {
      const items = itemsOf(ranges);
      const edits = items.flatMap((_, position) => {
        const wanted = given[position];
        if (wanted == null) return [];
        return [{ position, item: wanted[0] ? null : { partId: 'new', ordinal: wanted[1] } }];
      });
      const byPosition = new Map(edits.map(({ position, item }) => [position, item]));
      const expected = items.flatMap((item, position) => {
        const edited = byPosition.get(position);
        return edited === undefined ? [item] : edited === null ? [] : [`${edited.partId}${edited.ordinal}`];
      });
      expect(itemsOf(editRanges(ranges, edits))).toEqual(expected);
    }),
  );
});

it('columns hold ranges', () => {
  fc.assert(
    fc.property(fc.array(range), (given) => {
      const ranges = joinRanges(given);
      expect(fromColumns(toColumns(ranges), itemCountOf(ranges))).toEqual(ranges);
    }),
  );
});

it('what is left of ranges without others is the difference of the sets of their items', () => {
  const distinct = fc.array(range).map((ranges) => {
    const seen = new Set<string>();
    return ranges.filter((one) => itemsOf([one]).every((item) => !seen.has(item) && seen.add(item)));
  });
  fc.assert(
    fc.property(distinct, distinct, (ranges, others) => {
      const left = itemsOf(subtractRanges(ranges, others));
      expect(new Set(left)).toEqual(
        new Set(itemsOf(ranges).filter((item) => !itemsOf(others).includes(item))),
      );
      expect(left).toHaveLength(new Set(left).size);
    }),
  );
});

it('ranges that are split have the same items, as many in each as asked for', () => {
  fc.assert(
    fc.property(fc.array(range), fc.integer({ min: 1, max: 12 }), (ranges, itemCount) => {
      const split = [...splitRanges(ranges, itemCount, cutItems)];
      expect(itemsOf(split.flat())).toEqual(itemsOf(ranges));
      for (const some of split.slice(0, -1)) expect(itemCountOf(some)).toBe(itemCount);
      expect(itemCountOf(split.at(-1) ?? [])).toBeLessThanOrEqual(itemCount);
    }),
  );
});

it('consecutive items of ranges are found by the position of the first', () => {
  fc.assert(
    fc.property(fc.array(range), fc.nat(30), fc.nat(30), (given, position, wanted) => {
      const ranges = joinRanges(given);
      const items = itemsOf(ranges);
      const count = Math.max(Math.min(wanted, items.length - position), 0);
      expect(itemsOf(rangeFinder(ranges)(position, count))).toEqual(items.slice(position, position + count));
    }),
  );
});
