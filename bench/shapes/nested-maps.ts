import type { Shape } from './shape.ts';
import { between, dumps, prose } from './text.ts';

const NAMES = 2000;
const MEMBERS = 5;
const LEVELS = 4;

/** A map whose keys are data, of maps whose keys are data. */
function mapsOf(next: () => number, level: number): unknown {
  if (level === 0) return between(next, 0, 1000);
  return Object.fromEntries(
    Array.from({ length: MEMBERS }, () => [`n${between(next, 0, NAMES)}`, mapsOf(next, level - 1)]),
  );
}

/** Objects whose keys are data inside objects whose keys are data: any of some thousand names in any place. */
export const NESTED_MAPS: Shape = {
  name: 'nested-maps',
  lineBytes: 9800,
  line: (next, index) =>
    dumps({
      id: index,
      inputs: { prompt: `${prose(next, 80)}?` },
      answer: prose(next, 10),
      meta: { by_name: mapsOf(next, LEVELS) },
    }),
};
