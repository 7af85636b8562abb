import type { Shape } from './shape.ts';
import { between, dumps, prose } from './text.ts';

const HEX = 16;

/** A text that no other item has. */
function unique(next: () => number): string {
  return Math.floor(next() * 2 ** 48)
    .toString(HEX)
    .padStart(12, '0');
}

function date(next: () => number): string {
  return `${between(next, 1000, 9999)}-${between(next, 10, 13)}-${between(next, 10, 29)}`;
}

function mapOf<T>(count: number, key: () => string, value: () => T): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, () => [key(), value()]));
}

/** Objects whose keys are data: maps by entity, date and id, of which no other item has the keys. */
export const MAPS_BY_KEY: Shape = {
  name: 'maps-by-key',
  lineBytes: 3800,
  line: (next, index) =>
    dumps({
      id: index,
      inputs: { prompt: `${prose(next, 80)}?` },
      answer: prose(next, 10),
      meta: {
        entities: mapOf(
          24,
          () => `entity ${unique(next)}`,
          () => ({ label: prose(next, 12), score: next(), seen: between(next, 0, 100) }),
        ),
        by_date: mapOf(
          20,
          () => date(next),
          () => between(next, 0, 1e6),
        ),
        links: mapOf(
          16,
          () => unique(next),
          () => [unique(next), unique(next)],
        ),
      },
    }),
};
