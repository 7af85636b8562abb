import { numbers } from '../generate.ts';
import type { Shape } from './shape.ts';
import { between } from './text.ts';

const NAME_COUNTS = [20, 100, 240, 2000];
/** Members of an object, and levels of objects: as many values as an item may well have. */
const WIDTHS = [
  [3, 5],
  [5, 4],
  [20, 2],
  [60, 2],
  [200, 1],
] as const;

/**
 * Shapes made at random: how many names keys have, how wide and deep their objects are, whether an object has its keys in the
 * same order each time, and whether they are in the metadata or in the item itself.
 */
export function randomMaps(count: number, seed: number): readonly Shape[] {
  const choose = numbers(seed);
  return Array.from({ length: count }, () => {
    const names = NAME_COUNTS[between(choose, 0, NAME_COUNTS.length)] as number;
    const [width, depth] = WIDTHS[between(choose, 0, WIDTHS.length)] as (typeof WIDTHS)[number];
    const isOrdered = choose() < 0.3;
    const isRoot = choose() < 0.5;
    const map = (next: () => number, level: number): Record<string, unknown> =>
      Object.fromEntries(
        Array.from({ length: Math.min(width, names) }, (_, index) => [
          `n${isOrdered ? index : between(next, 0, names)}`,
          level === 1 ? between(next, 0, 1000) : map(next, level - 1),
        ]),
      );
    return {
      name: `${width} of ${names} names, ${depth} levels, ${isOrdered ? 'same' : 'any'} order, ${isRoot ? 'item' : 'meta'}`,
      lineBytes: 14 * width ** depth,
      line: (next, id) =>
        JSON.stringify(isRoot ? { id, ...map(next, depth) } : { id, meta: map(next, depth) }),
    };
  });
}
